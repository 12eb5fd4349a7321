// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title Several calls in one transaction, as a contract wallet or an attacker makes them
contract Caller {
    error CallFailed(uint256 index, bytes reason);

    /// @notice Make the calls in order; all or none.
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
