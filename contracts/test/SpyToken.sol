// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title A token that reverts with the authorization that it is asked to use
/// @notice Tests read the amount and the nonce that the pool computes for a deposit.
contract SpyToken {
    /// @notice The pool asked for this authorization.
    /// @param value base units
    /// @param nonce nonce of the authorization
    error Asked(uint256 value, bytes32 nonce);

    /// @notice EIP-3009; always reverts with Asked.
    /// @param value base units
    /// @param nonce nonce of the authorization
    function receiveWithAuthorization(
        address,
        address,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        uint8,
        bytes32,
        bytes32
    ) external pure {
        revert Asked(value, nonce);
    }

    /// @notice EIP-20: nobody has anything.
    /// @return zero 0
    function balanceOf(address) external pure returns (uint256 zero) {
        return 0;
    }
}
