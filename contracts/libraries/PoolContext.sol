// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {FIELD_MODULUS} from "./Field.sol";

/// @title What ties a proof to this chain, this pool and its circumstances
/// @notice Each function is keccak256 of the abi encoding, reduced to the field. Reducing a 256-bit hash makes the values
/// slightly uneven (p is about 2^253.6), which matters to nobody: they are compared, never drawn.
library PoolContext {
    /// @notice Signal 1 of a payment.
    /// @param validUntil last second in which the payment may settle
    /// @param resourceDigest what is paid for, salted by the sender commitment
    function payment(uint64 validUntil, bytes32 resourceDigest) internal view returns (uint256) {
        return uint256(keccak256(abi.encode(block.chainid, address(this), validUntil, resourceDigest))) % FIELD_MODULUS;
    }

    /// @notice Signal 0 of a withdrawal.
    /// @param recipient gets the amount without the fee
    /// @param fee token base units
    /// @param feeRecipient gets the fee
    /// @param validUntil last second in which it may be executed
    function withdrawal(
        address recipient,
        uint256 fee,
        address feeRecipient,
        uint64 validUntil
    ) internal view returns (uint256) {
        return
            uint256(keccak256(abi.encode(block.chainid, address(this), recipient, fee, feeRecipient, validUntil))) %
            FIELD_MODULUS;
    }

    /// @notice Blinding of a deposited note. It hides nothing (a deposit is public), it makes deposits recoverable from
    /// the chain and different between deployments.
    function depositBlinding(uint256 leafIndex) internal view returns (uint256) {
        return uint256(keccak256(abi.encode(block.chainid, address(this), leafIndex))) % FIELD_MODULUS;
    }
}
