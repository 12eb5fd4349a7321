// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {RecordedPool} from "./Histories.sol";

/// @title The recorded pool without a fuzzer
abstract contract RecordedSteps is RecordedPool {
    /// @notice The pool executes all steps in their order, except those that spend a note again, which it refuses.
    function test_executesTheRecording() external {
        require(world.replayAll() > 0, "nothing was recorded");
        _solvency();
        _nullifiers();
        _order();
        _payouts();
    }
}
