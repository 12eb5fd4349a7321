// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {CircuitConstants} from "./CircuitConstants.sol";
import {FIELD_MODULUS} from "./Field.sol";
import {INoteTree} from "../interfaces/INoteTree.sol";

/// @title The queue of commitments that wait for the tree
/// @notice A keccak chain over all leaves ever queued, with checkpoints where an append may end. Checkpoints
/// [firstPending, open) are closed and live in a ring, as keccak256(chain, count, timestamp); the open one is the queue's
/// own state and is written into the ring when the next one is opened: when a leaf arrives in another block, or when it
/// holds 64 leaves. So one settle a block writes one ring slot, and several in a block write none.
library NoteQueue {
    /// @dev Leaves a checkpoint holds at most, which is also what one append moves at most: the first pending checkpoint
    /// can always be appended.
    uint256 internal constant CHECKPOINT_LEAVES = CircuitConstants.MAX_APPEND_LEAVES;

    /// @dev All counters in one slot. Leaves and checkpoints are at most 2^30; checkpoints are never more than leaves.
    struct State {
        uint32 size;
        uint32 appended;
        uint32 firstPending;
        uint32 open;
        uint8 openLeaves;
        uint64 openBlock;
        uint48 openTimestamp;
    }

    struct Storage {
        State state;
        bytes32 chain;
        bytes32 appendedChain;
        mapping(uint256 slot => bytes32) ring;
    }

    /// @dev Working copy during one call: one read and one write of each slot, however many leaves are pushed.
    struct Cursor {
        State state;
        bytes32 chain;
        uint256 ringSize;
    }

    /// @notice Start pushing `leaves` leaves; reverts if there is no room, so that nothing is verified in vain.
    function begin(
        Storage storage self,
        uint256 leaves,
        uint256 maxLeaves,
        uint256 ringSize
    ) internal view returns (Cursor memory cursor) {
        cursor.state = self.state;
        cursor.chain = self.chain;
        cursor.ringSize = ringSize;
        State memory state = cursor.state;
        if (state.size + leaves > maxLeaves) revert INoteTree.TreeFull(state.size, leaves);

        // Checkpoints that these leaves will close: one if the open one is of another block, and one before every leaf
        // that finds 64 others.
        bool sameBlock = state.openBlock == block.number;
        uint256 closing = (leaves - 1 + (sameBlock ? state.openLeaves : 0)) / CHECKPOINT_LEAVES;
        if (!sameBlock && state.openLeaves != 0) ++closing;
        uint256 pending = state.open - state.firstPending;
        if (pending + closing > ringSize) revert INoteTree.QueueFull(pending);
    }

    /// @notice Queue one leaf (0 < leaf < p, for the caller to check).
    /// @return index of the leaf in the tree
    function push(Storage storage self, Cursor memory cursor, uint256 leaf) internal returns (uint256 index) {
        State memory state = cursor.state;
        unchecked {
            // No counter can overflow: `begin` bounded them.
            if (state.openLeaves == CHECKPOINT_LEAVES || (state.openLeaves != 0 && state.openBlock != block.number)) {
                self.ring[state.open % cursor.ringSize] = hash(cursor.chain, state.size, state.openTimestamp);
                ++state.open;
                state.openLeaves = 0;
            }
            if (state.openLeaves == 0) {
                state.openBlock = uint64(block.number);
                state.openTimestamp = uint48(block.timestamp);
            }
            ++state.openLeaves;
            cursor.chain = fold(cursor.chain, leaf);
            index = state.size++;
        }
    }

    /// @notice Write what was pushed.
    function commit(Storage storage self, Cursor memory cursor) internal {
        self.state = cursor.state;
        self.chain = cursor.chain;
    }

    /// @notice The queue up to `end`, a pending checkpoint, is in the tree.
    /// @param state as it was loaded; it is changed and written
    function consume(Storage storage self, State memory state, INoteTree.Checkpoint calldata end) internal {
        // The next fold of an append starts from these, never from the ring: its slot may be overwritten.
        self.appendedChain = end.chain;
        state.appended = uint32(end.count);
        if (end.sequence == state.open) {
            // What is pushed later in this very block goes into a checkpoint of its own.
            ++state.open;
            state.openLeaves = 0;
        }
        state.firstPending = uint32(end.sequence + 1);
        self.state = state;
    }

    /// @notice keccak256(abi.encode(chain, count, timestamp)) of a pending checkpoint.
    function checkpoint(
        Storage storage self,
        State memory state,
        uint256 sequence,
        uint256 ringSize
    ) internal view returns (bytes32) {
        if (sequence >= state.firstPending && sequence < state.open) return self.ring[sequence % ringSize];
        if (sequence == state.open && state.openLeaves != 0) return hash(self.chain, state.size, state.openTimestamp);
        revert INoteTree.UnknownCheckpoint(sequence);
    }

    /// @notice The chain after all these leaves.
    function foldAll(bytes32 chain, uint256[] calldata leaves) internal pure returns (bytes32) {
        for (uint256 i = 0; i < leaves.length; ++i) chain = fold(chain, leaves[i]);
        return chain;
    }

    /// @notice sum of leaves[i] * z^i mod p.
    function evaluate(uint256[] calldata leaves, uint256 z) internal pure returns (uint256 sum) {
        // Horner's scheme, from the last leaf on.
        for (uint256 i = leaves.length; i != 0;) {
            unchecked {
                --i;
            }
            sum = addmod(mulmod(sum, z, FIELD_MODULUS), leaves[i], FIELD_MODULUS);
        }
    }

    /// @notice keccak256(abi.encode(chain, leaf)).
    function fold(bytes32 chain, uint256 leaf) internal pure returns (bytes32) {
        return Hashes.efficientKeccak256(chain, bytes32(leaf));
    }

    /// @notice keccak256(abi.encode(chain, count, timestamp)): what a ring slot holds.
    function hash(bytes32 chain, uint256 count, uint256 timestamp) internal pure returns (bytes32) {
        return keccak256(abi.encode(chain, count, timestamp));
    }
}
