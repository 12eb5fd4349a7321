// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {ForgedCalls} from "./ForgedCalls.sol";
import {Properties} from "./Properties.sol";
import {RecordedCalls} from "./RecordedCalls.sol";

/// @dev Pool with a ring of four checkpoints, so that its queue is often full.
string constant SMALL_RING_POOL = "project/contracts/test/SmallRingPool.sol:SmallRingPool";
/// @dev The same with all seeded bugs, none of them active (support/generate.ts).
string constant SEEDED_POOL = "project/test/fuzz/solidity/generated/test/SmallRingPool.sol:SmallRingPool";

/// @title The properties over a recorded pool
/// @notice Real proofs of all circuits, and the pool as it is deployed.
abstract contract RecordedPool is Properties {
    constructor(uint256 property, uint256) {
        world = _world("project/contracts/ShieldedPool.sol:ShieldedPool", 0, true);
        world.setSalt(property);
    }

    /// @dev The next step comes up most often.
    function _selectors() internal pure override returns (bytes4[] memory list) {
        list = new bytes4[](8);
        for (uint256 i = 0; i < 4; ++i) list[i] = RecordedCalls.next.selector;
        list[4] = RecordedCalls.replay.selector;
        list[5] = RecordedCalls.settleTogether.selector;
        list[6] = RecordedCalls.waitBriefly.selector;
        list[7] = ForgedCalls.donate.selector;
    }
}

/// @title The properties over any history
abstract contract OwnHistory is Properties {
    constructor(uint256 property, uint256 bug) {
        world = _world(bug == 0 ? SMALL_RING_POOL : SEEDED_POOL, 4, true);
        world.setSalt(property);
        world.begin();
        if (bug != 0) world.seedBug(bug);
    }

    function _selectors() internal pure override returns (bytes4[] memory list) {
        list = new bytes4[](10);
        list[0] = ForgedCalls.deposit.selector;
        list[1] = ForgedCalls.depositSigned.selector;
        list[2] = ForgedCalls.settle.selector;
        list[3] = ForgedCalls.settle.selector;
        list[4] = ForgedCalls.withdraw.selector;
        list[5] = ForgedCalls.append.selector;
        list[6] = ForgedCalls.append.selector;
        list[7] = ForgedCalls.interfere.selector;
        list[8] = ForgedCalls.wait_.selector;
        list[9] = ForgedCalls.disturb.selector;
    }
}

/// @title The properties with a token that misbehaves
abstract contract HostileToken is Properties {
    constructor(uint256 property, uint256 bug) {
        world = _world(bug == 0 ? SMALL_RING_POOL : SEEDED_POOL, 4, false);
        world.setSalt(property);
        world.begin();
        if (bug != 0) world.seedBug(bug);
    }

    function _selectors() internal pure override returns (bytes4[] memory list) {
        list = new bytes4[](10);
        list[0] = ForgedCalls.deposit.selector;
        list[1] = ForgedCalls.deposit.selector;
        list[2] = ForgedCalls.settle.selector;
        list[3] = ForgedCalls.withdraw.selector;
        list[4] = ForgedCalls.withdraw.selector;
        list[5] = ForgedCalls.append.selector;
        list[6] = ForgedCalls.interfere.selector;
        list[7] = ForgedCalls.wait_.selector;
        list[8] = ForgedCalls.disturb.selector;
        list[9] = ForgedCalls.shift.selector;
    }
}
