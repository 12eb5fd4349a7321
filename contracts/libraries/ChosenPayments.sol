// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
// PAYMENT_SIGNAL_BYTES is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {PAYMENT_SIGNAL_BYTES} from "./CircuitConstants.sol";

/// @title The payments of a settle call that can settle
/// @notice A list in memory with two words for each payment: its position in the calldata and the digest of its signals.
/// In assembly, because Solidity would check and clear what is written once and read in order.
library ChosenPayments {
    /// @notice An empty list with room for payments.
    /// @param room number of payments that may be added
    /// @return list the list; its length counts words
    function reserve(uint256 room) internal pure returns (uint256[] memory list) {
        assembly ("memory-safe") {
            list := mload(0x40)
            mstore(list, 0)
            mstore(0x40, add(list, add(0x20, shl(6, room))))
        }
    }

    /// @notice Adds a payment; the caller has reserved room for it.
    /// @param list the list
    /// @param payment the payment
    /// @return digest keccak256 of its public signals
    function add(uint256[] memory list, IShieldedPool.Payment calldata payment) internal pure returns (bytes32 digest) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            calldatacopy(buffer, add(payment, 0x100), PAYMENT_SIGNAL_BYTES)
            digest := keccak256(buffer, PAYMENT_SIGNAL_BYTES)
            let length := mload(list)
            let entry := add(add(list, 0x20), shl(5, length))
            mstore(entry, payment)
            mstore(add(entry, 0x20), digest)
            mstore(list, add(length, 2))
        }
    }

    /// @notice Number of payments in the list.
    /// @param list the list
    /// @return number the number
    function count(uint256[] memory list) internal pure returns (uint256 number) {
        return list.length >> 1;
    }

    /// @notice A payment of the list.
    /// @param list the list
    /// @param index its index, below count(list)
    /// @return payment the payment in the calldata
    /// @return digest keccak256 of its public signals
    function get(
        uint256[] memory list,
        uint256 index
    ) internal pure returns (IShieldedPool.Payment calldata payment, bytes32 digest) {
        assembly ("memory-safe") {
            let entry := add(add(list, 0x20), shl(6, index))
            payment := mload(entry)
            digest := mload(add(entry, 0x20))
        }
    }
}
