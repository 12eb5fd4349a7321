// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
// FIELD_MODULUS is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {FIELD_MODULUS} from "./Bn254.sol";
import {PAYMENT_SIGNALS, WITHDRAWAL_SIGNALS} from "./CircuitConstants.sol";
import {PaymentSignals} from "./PaymentSignals.sol";

/// @title Range check of public signals
/// @notice A verifier computes modulo p, so without this check x and x + p would be two nullifiers of the same note.
library SignalRange {
    /// @notice Reverts with SignalOutOfField unless every signal of a payment is below p.
    /// @param index index of the payment in the call, for the error
    /// @param signals public signals of the payment
    function requirePayment(uint256 index, uint256[PAYMENT_SIGNALS] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        // Finds the signal, for the error.
        if (!PaymentSignals.areInField(signals)) _require(index, position, PAYMENT_SIGNALS);
    }

    /// @notice Reverts with SignalOutOfField unless every signal of a withdrawal is below p.
    /// @param signals public signals of the withdrawal
    function requireWithdrawal(uint256[WITHDRAWAL_SIGNALS] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        _require(0, position, WITHDRAWAL_SIGNALS);
    }

    /// @dev Checks `count` words of calldata from `position` on.
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
