// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {FIELD_MODULUS} from "./Field.sol";

/// @title Public signals: where each is, in wire order, and that all are field elements
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

    /// @notice Reverts with SignalOutOfField unless every signal is below p. A verifier computes modulo p, so without this
    /// x and x + p would be two nullifiers of one note.
    /// @param index of the payment, for the error
    /// @param signals of a payment
    function requirePayment(uint256 index, uint256[10] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        _require(index, position, 10);
    }

    /// @notice The same for a withdrawal.
    /// @param signals of a withdrawal
    function requireWithdrawal(uint256[13] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        _require(0, position, 13);
    }

    /// @dev `count` words of calldata from `position` on. Assembly, because this loop runs for every payment and a checked
    /// index costs more than the comparison.
    function _require(uint256 index, uint256 position, uint256 count) private pure {
        uint256 signal = count;
        assembly ("memory-safe") {
            for {
                let i := 0
            } lt(i, count) {
                i := add(i, 1)
            } {
                if iszero(lt(calldataload(add(position, shl(5, i))), FIELD_MODULUS)) {
                    signal := i
                    break
                }
            }
        }
        if (signal != count) revert IShieldedPool.SignalOutOfField(index, signal);
    }
}
