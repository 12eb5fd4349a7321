// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {CircuitConstants} from "./CircuitConstants.sol";
import {FIELD_MODULUS} from "./Bn254.sol";
import {INoteTree} from "../interfaces/INoteTree.sol";

/// @title The queue of commitments in front of the tree
/// @notice A keccak chain over all leaves ever queued, divided into checkpoints at which an append may end. Closed
/// checkpoints [firstPending, open) are in a ring, each as keccak256(chain, count, timestamp). The open checkpoint is the
/// state of the queue itself. It closes, and is written into the ring, when a leaf arrives in a later block or when it has
/// 64 leaves. So the first settle of a block writes one ring slot, and further settles in that block write none.
library NoteQueue {
    /// @dev Maximum number of leaves in a checkpoint. One append moves as many, so the first pending checkpoint always
    /// fits into one append.
    uint256 internal constant CHECKPOINT_LEAVES = CircuitConstants.MAX_APPEND_LEAVES;

    /// @dev All counters, packed into one slot. Leaves are at most 2^30, and there are never more checkpoints than leaves.
    /// INoteTree.QueueState describes each field.
    struct State {
        uint32 size;
        uint32 appended;
        uint32 firstPending;
        uint32 open;
        uint8 openLeaves;
        uint64 openBlock;
        uint48 openTimestamp;
    }

    /// @dev The queue in storage. The chains are those after `size` and after `appended` leaves.
    struct Storage {
        State state;
        bytes32 chain;
        bytes32 appendedChain;
        mapping(uint256 slot => bytes32 checkpointHash) ring;
    }

    /// @dev Working copy of the queue during one call: each slot is read once and written once, however many leaves are
    /// pushed.
    struct Cursor {
        State state;
        bytes32 chain;
        uint256 ringSize;
    }

    /// @notice Starts to push leaves. Reverts if there is no room for them.
    /// @param self the queue
    /// @param leaves number of leaves to push, at least 1
    /// @param maxLeaves maximum number of leaves in the tree
    /// @param ringSize number of slots in the ring
    /// @return cursor working copy for push and commit
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

        // Number of checkpoints that these leaves will close: one if the open checkpoint is of an earlier block, and one
        // before every leaf that finds 64 others in its checkpoint.
        bool sameBlock = state.openBlock == block.number;
        uint256 closing = (leaves - 1 + (sameBlock ? state.openLeaves : 0)) / CHECKPOINT_LEAVES;
        if (!sameBlock && state.openLeaves != 0) ++closing;
        uint256 pending = state.open - state.firstPending;
        if (pending + closing > ringSize) revert INoteTree.QueueFull(pending);
    }

    /// @notice Queues one leaf.
    /// @param self the queue
    /// @param cursor working copy from begin
    /// @param leaf the commitment; the caller has checked that 0 < leaf < p
    /// @return index of the leaf in the tree
    function push(Storage storage self, Cursor memory cursor, uint256 leaf) internal returns (uint256 index) {
        State memory state = cursor.state;
        unchecked {
            // No counter can overflow: begin has checked the room.
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

    /// @notice Writes to storage what was pushed.
    /// @param self the queue
    /// @param cursor working copy from begin
    function commit(Storage storage self, Cursor memory cursor) internal {
        self.state = cursor.state;
        self.chain = cursor.chain;
    }

    /// @notice Takes the leaves up to a pending checkpoint off the queue, because they are in the tree now.
    /// @param self the queue
    /// @param state the counters as they were loaded; they are changed and written
    /// @param end the pending checkpoint
    function consume(Storage storage self, State memory state, INoteTree.Checkpoint calldata end) internal {
        // The next append folds its leaves from this chain, never from the ring, whose slot may be overwritten.
        self.appendedChain = end.chain;
        state.appended = uint32(end.count);
        if (end.sequence == state.open) {
            // Leaves that are pushed later in this block go into a new checkpoint.
            ++state.open;
            state.openLeaves = 0;
        }
        state.firstPending = uint32(end.sequence + 1);
        self.state = state;
    }

    /// @notice Hash of a pending checkpoint; reverts with UnknownCheckpoint for any other.
    /// @param self the queue
    /// @param state the counters as they were loaded
    /// @param sequence number of the checkpoint
    /// @param ringSize number of slots in the ring
    /// @return keccak256(abi.encode(chain, count, timestamp))
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

    /// @notice The keccak chain after all these leaves.
    /// @param chain the keccak chain before them
    /// @param leaves the leaves, in order
    /// @return the keccak chain after the last one
    function foldAll(bytes32 chain, uint256[] calldata leaves) internal pure returns (bytes32) {
        for (uint256 i = 0; i < leaves.length; ++i) chain = fold(chain, leaves[i]);
        return chain;
    }

    /// @notice Evaluates the polynomial whose coefficients are the leaves.
    /// @param leaves the leaves, in order
    /// @param z the point
    /// @return sum sum of leaves[i] * z^i mod p
    function evaluate(uint256[] calldata leaves, uint256 z) internal pure returns (uint256 sum) {
        // Horner's method, from the last leaf down.
        for (uint256 i = leaves.length; i != 0;) {
            unchecked {
                --i;
            }
            sum = addmod(mulmod(sum, z, FIELD_MODULUS), leaves[i], FIELD_MODULUS);
        }
    }

    /// @notice The keccak chain after one more leaf.
    /// @param chain the keccak chain before it
    /// @param leaf the leaf
    /// @return keccak256(abi.encode(chain, leaf))
    function fold(bytes32 chain, uint256 leaf) internal pure returns (bytes32) {
        return Hashes.efficientKeccak256(chain, bytes32(leaf));
    }

    /// @notice Hash of a checkpoint: the content of a ring slot.
    /// @param chain the keccak chain after its last leaf
    /// @param count number of leaves queued up to and including its last leaf
    /// @param timestamp timestamp of the block of its leaves, seconds
    /// @return keccak256(abi.encode(chain, count, timestamp))
    function hash(bytes32 chain, uint256 count, uint256 timestamp) internal pure returns (bytes32) {
        return keccak256(abi.encode(chain, count, timestamp));
    }
}
