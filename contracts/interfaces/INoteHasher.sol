// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title circomlib's Poseidon of three inputs
/// @notice The deployed PoseidonT4 library of poseidon-solidity. Its function is pure, so it can be called as if the
/// library were a contract; linking would drag its source through the IR compiler, which makes twice of it what a chain
/// accepts.
interface INoteHasher {
    /// @notice Poseidon3(inputs[0], inputs[1], inputs[2]).
    /// @param inputs each below the field modulus
    function hash(uint256[3] calldata inputs) external pure returns (uint256);
}
