// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {CircuitConstants} from "./CircuitConstants.sol";
// FIELD_MODULUS is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
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
    /// pushed. `counters` is State as it is packed in its slot, because pushes are most of the work of a settle call.
    struct Cursor {
        uint256 counters;
        bytes32 chain;
        uint256 ringSize;
    }

    // Positions of the fields of State in its slot, lowest bit first. `size` is at 0.
    uint256 private constant FIRST_PENDING_BIT = 64;
    uint256 private constant OPEN_BIT = 96;
    uint256 private constant OPEN_LEAVES_BIT = 128;
    uint256 private constant OPEN_BLOCK_BIT = 136;
    uint256 private constant OPEN_TIMESTAMP_BIT = 200;
    /// @dev Added to the counters by one leaf: size + 1, openLeaves + 1.
    uint256 private constant ONE_LEAF = (1 << OPEN_LEAVES_BIT) | 1;

    /// @notice Starts to push leaves, and closes the open checkpoint if it is of an earlier block. Reverts if there is no
    /// room for the leaves.
    /// @param self the queue
    /// @param cursor set to the working copy for push and commit
    /// @param leaves number of leaves to push, at least 1 and at most 2^64
    /// @param maxLeaves maximum number of leaves in the tree
    /// @param ringSize number of slots in the ring
    function begin(
        Storage storage self,
        Cursor memory cursor,
        uint256 leaves,
        uint256 maxLeaves,
        uint256 ringSize
    ) internal {
        uint256 counters = _load(self);
        uint256 size = uint32(counters);

        // Number of checkpoints that these leaves will close: one if the open checkpoint is of an earlier block, and one
        // before every leaf that finds 64 others in its checkpoint.
        uint256 openLeaves = uint8(counters >> OPEN_LEAVES_BIT);
        bool sameBlock = uint64(counters >> OPEN_BLOCK_BIT) == block.number;
        bool closesOpen = !sameBlock && openLeaves != 0;
        // No sum or difference can wrap: all are far below 2^256, and firstPending is never above open.
        unchecked {
            if (size + leaves > maxLeaves) revert INoteTree.TreeFull(size, leaves);
            uint256 closing = (leaves - 1 + (sameBlock ? openLeaves : 0)) / CHECKPOINT_LEAVES;
            if (closesOpen) ++closing;
            uint256 pending = uint32(counters >> OPEN_BIT) - uint32(counters >> FIRST_PENDING_BIT);
            if (pending + closing > ringSize) revert INoteTree.QueueFull(pending);
        }

        cursor.chain = self.chain;
        cursor.ringSize = ringSize;
        if (closesOpen) counters = _close(self, cursor, counters, openLeaves);
        // The leaves to come are of this block.
        cursor.counters =
            (counters & ((1 << OPEN_BLOCK_BIT) - 1)) |
            (uint256(uint64(block.number)) << OPEN_BLOCK_BIT) |
            (uint256(uint48(block.timestamp)) << OPEN_TIMESTAMP_BIT);
    }

    /// @notice Queues one leaf.
    /// @param self the queue
    /// @param cursor working copy from begin
    /// @param leaf the commitment; the caller has checked that 0 < leaf < p
    /// @return index of the leaf in the tree
    function push(Storage storage self, Cursor memory cursor, uint256 leaf) internal returns (uint256 index) {
        uint256 counters = cursor.counters;
        if (uint8(counters >> OPEN_LEAVES_BIT) == CHECKPOINT_LEAVES) {
            counters = _close(self, cursor, counters, CHECKPOINT_LEAVES);
        }
        cursor.chain = fold(cursor.chain, leaf);
        // No counter can overflow: begin has checked the room.
        unchecked {
            cursor.counters = counters + ONE_LEAF;
        }
        return uint32(counters);
    }

    /// @notice Index of the leaf that is pushed next.
    /// @param cursor working copy from begin
    /// @return index its index in the tree
    function nextIndex(Cursor memory cursor) internal pure returns (uint256 index) {
        return uint32(cursor.counters);
    }

    /// @notice Writes to storage what was pushed.
    /// @param self the queue
    /// @param cursor working copy from begin
    function commit(Storage storage self, Cursor memory cursor) internal {
        uint256 counters = cursor.counters;
        State storage state = self.state;
        assembly ("memory-safe") {
            sstore(state.slot, counters)
        }
        self.chain = cursor.chain;
    }

    /// @dev The counters as they are packed in their slot.
    function _load(Storage storage self) private view returns (uint256 counters) {
        State storage state = self.state;
        assembly ("memory-safe") {
            counters := sload(state.slot)
        }
    }

    /// @dev Writes the open checkpoint of `openLeaves` leaves into the ring.
    /// @return the counters after it
    function _close(
        Storage storage self,
        Cursor memory cursor,
        uint256 counters,
        uint256 openLeaves
    ) private returns (uint256) {
        uint256 open = uint32(counters >> OPEN_BIT);
        self.ring[open % cursor.ringSize] = hash(cursor.chain, uint32(counters), counters >> OPEN_TIMESTAMP_BIT);
        unchecked {
            return counters + (1 << OPEN_BIT) - (openLeaves << OPEN_LEAVES_BIT);
        }
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
    /// @return result the keccak chain after the last one
    function foldAll(bytes32 chain, uint256[] calldata leaves) internal pure returns (bytes32 result) {
        // `fold` of each leaf, without Solidity's bounds check.
        assembly ("memory-safe") {
            result := chain
            let position := leaves.offset
            for {
                let end := add(position, shl(5, leaves.length))
            } lt(position, end) {
                position := add(position, 0x20)
            } {
                mstore(0x00, result)
                mstore(0x20, calldataload(position))
                result := keccak256(0x00, 0x40)
            }
        }
    }

    /// @notice Evaluates the polynomial whose coefficients are the old root, the index and the leaves of an append.
    /// @param oldRoot root before the append
    /// @param startIndex index of the first leaf
    /// @param leaves the leaves, in order
    /// @param z the point, below p
    /// @return sum oldRoot + startIndex * z + sum of leaves[i] * z^(2 + i) mod p
    function evaluate(
        uint256 oldRoot,
        uint256 startIndex,
        uint256[] calldata leaves,
        uint256 z
    ) internal pure returns (uint256 sum) {
        // Horner's method, from the last leaf down to the root.
        assembly ("memory-safe") {
            let start := leaves.offset
            for {
                let position := add(start, shl(5, leaves.length))
            } gt(position, start) {} {
                position := sub(position, 0x20)
                sum := addmod(mulmod(sum, z, FIELD_MODULUS), calldataload(position), FIELD_MODULUS)
            }
            sum := addmod(mulmod(sum, z, FIELD_MODULUS), startIndex, FIELD_MODULUS)
            sum := addmod(mulmod(sum, z, FIELD_MODULUS), oldRoot, FIELD_MODULUS)
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
    /// @param time timestamp of the block of its leaves, seconds
    /// @return result keccak256(abi.encode(chain, count, time))
    function hash(bytes32 chain, uint256 count, uint256 time) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, chain)
            mstore(add(buffer, 0x20), count)
            mstore(add(buffer, 0x40), time)
            result := keccak256(buffer, 0x60)
        }
    }
}
