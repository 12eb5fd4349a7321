// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {NoteTree} from "../NoteTree.sol";
import {ShieldedPool} from "../ShieldedPool.sol";
import {INoteTree} from "../interfaces/INoteTree.sol";

/// @title A pool with a small ring of checkpoints, so that tests can fill it and wrap around it many times
contract SmallRingPool is ShieldedPool {
    uint256 private immutable _RING_SIZE;

    /// @param size number of slots in the ring, at least 2; the other parameters are those of ShieldedPool
    constructor(
        uint256 size,
        address token_,
        address paymentVerifier_,
        address withdrawalVerifier_,
        address noteAppendVerifier_,
        address noteHasher_,
        uint64 smallestDeposit_
    ) ShieldedPool(token_, paymentVerifier_, withdrawalVerifier_, noteAppendVerifier_, noteHasher_, smallestDeposit_) {
        _RING_SIZE = size;
    }

    /// @inheritdoc NoteTree
    function ringSize() public view override(INoteTree, NoteTree) returns (uint256) {
        return _RING_SIZE;
    }
}
