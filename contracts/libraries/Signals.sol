// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @dev Where each public signal is, in wire order.
library Signals {
    uint256 internal constant PAYMENT_RECIPIENT = 0;
    uint256 internal constant PAYMENT_RESOURCE = 1;
    uint256 internal constant PAYMENT_ENCRYPTED_AMOUNT = 2;
    uint256 internal constant PAYMENT_AMOUNT_HINT = 4;
    uint256 internal constant PAYMENT_ROOT = 5;
    uint256 internal constant PAYMENT_NULLIFIER = 6;
    uint256 internal constant PAYMENT_COMMITMENTS = 7;
    uint256 internal constant PAYMENT_CHANGE_HINT = 9;

    uint256 internal constant WITHDRAWAL_CONTEXT = 0;
    uint256 internal constant WITHDRAWAL_AMOUNT = 1;
    uint256 internal constant WITHDRAWAL_ROOT = 2;
    uint256 internal constant WITHDRAWAL_NULLIFIERS = 3;
    uint256 internal constant WITHDRAWAL_COMMITMENT = 11;
    uint256 internal constant WITHDRAWAL_CHANGE_HINT = 12;
}
