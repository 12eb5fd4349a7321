// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @dev Order of BN254's groups and modulus p of the circuits' field: every public signal is below it.
uint256 constant FIELD_MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617;

/// @dev Modulus q of BN254's base field: the coordinates of proof points are below it.
uint256 constant BASE_MODULUS = 21888242871839275222246405745257275088696311157297823662689037894645226208583;
