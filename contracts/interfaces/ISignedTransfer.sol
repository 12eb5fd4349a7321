// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title EIP-3009 with signatures of any length
/// @notice Tokens like FiatTokenV2_2 (USDC, EURC) have this function beside that of EIP-3009, which takes v, r and s.
interface ISignedTransfer {
    /// @notice Transfers tokens of `from` to the caller. A contract account accepts the signature itself (EIP-1271).
    /// @param from account that pays and signed
    /// @param to the caller
    /// @param value token base units
    /// @param validAfter the authorization is valid after this second
    /// @param validBefore the authorization is valid before this second
    /// @param nonce unique for each authorization of `from`
    /// @param signature in the format of the account
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;
}
