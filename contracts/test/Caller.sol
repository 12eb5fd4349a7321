// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Makes several calls in one transaction, as a contract wallet or an attacker would
contract Caller {
    /// @notice One of the calls reverted.
    /// @param index index of the call
    /// @param reason its return data
    error CallFailed(uint256 index, bytes reason);

    /// @notice Makes the calls in order; reverts all of them if one reverts.
    /// @param target contract to call
    /// @param calls calldata of each call
    /// @return results return data of each call
    function run(address target, bytes[] calldata calls) external returns (bytes[] memory results) {
        results = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, bytes memory result) = target.call(calls[i]);
            if (!success) revert CallFailed(i, result);
            results[i] = result;
        }
    }
}
