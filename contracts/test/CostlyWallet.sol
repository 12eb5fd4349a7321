// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A wallet that accepts every signature, at a cost that anyone can change
contract CostlyWallet is IERC1271 {
    /// @notice Gas of a check. If a call has less, the check consumes all of it.
    uint256 public cost;

    /// @param cost_ gas of a check
    constructor(uint256 cost_) {
        cost = cost_;
    }

    /// @notice Changes the cost.
    /// @param cost_ gas of a check
    function setCost(uint256 cost_) external {
        cost = cost_;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 start = gasleft();
        uint256 spent = cost;
        uint256 rounds = 0;
        while (start - gasleft() < spent) rounds += 1;
        return IERC1271.isValidSignature.selector;
    }
}
