// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {CircuitConstants} from "./CircuitConstants.sol";
// Used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {FIELD_MODULUS} from "./Field.sol";

/// @title Public signals are field elements, or nothing happens
library SignalRange {
    /// @notice Reverts with SignalOutOfField unless every signal is below p. A verifier computes modulo p, so without this
    /// x and x + p would be two nullifiers of one note.
    /// @param index of the payment, for the error
    /// @param signals of a payment
    function requirePayment(uint256 index, uint256[10] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        _require(index, position, CircuitConstants.PAYMENT_SIGNALS);
    }

    /// @notice The same for a withdrawal.
    /// @param signals of a withdrawal
    function requireWithdrawal(uint256[13] calldata signals) internal pure {
        uint256 position;
        assembly ("memory-safe") {
            position := signals
        }
        _require(0, position, CircuitConstants.WITHDRAWAL_SIGNALS);
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
