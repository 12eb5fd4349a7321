// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title The part of Permit2 that a deposit uses
/// @notice Permit2 transfers any ERC-20 whose holder approved Permit2 once, for a signature each time. It has the same
/// address on every chain that has it, no owner and no upgrade.
interface IPermit2 {
    /// @notice What may be transferred.
    /// @param token an ERC-20
    /// @param amount token base units, at most
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    /// @notice The signed message, together with the caller of `permitTransferFrom` as the spender.
    /// @param permitted token and amount
    /// @param nonce any number that the owner has not used before
    /// @param deadline last second in which the signature is valid
    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    /// @notice Where the tokens go. The owner does not sign this; the spender chooses it.
    /// @param to account that receives
    /// @param requestedAmount token base units, at most the permitted amount
    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Transfers tokens of `owner`, who signed this for the caller. A contract account accepts the signature itself
    /// (EIP-1271).
    /// @param permit the signed message
    /// @param transferDetails where the tokens go
    /// @param owner account that pays and signed
    /// @param signature r, s and v, or r and vs (EIP-2098), or that of a contract account
    function permitTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes calldata signature
    ) external;
}
