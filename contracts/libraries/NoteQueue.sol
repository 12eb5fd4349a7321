// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {MAX_APPEND_LEAVES} from "./CircuitConstants.sol";
// FIELD_MODULUS is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {FIELD_MODULUS} from "./Bn254.sol";
import {INoteTree} from "../interfaces/INoteTree.sol";

/// @title The queue of commitments in front of the tree
/// @notice A keccak chain over all leaves ever queued, divided into checkpoints at which an append may end. The ring has the
/// chain after the last leaf of each checkpoint from lastAppended to newest. The slot of the newest checkpoint is the running
/// chain: a settle reads the slot of the checkpoint before and writes that of its own. docs/protocol.md, "The checkpoints of
/// the queue", shows why the chain alone fixes the leaves and their number.
library NoteQueue {
    /// @dev Maximum number of leaves in a checkpoint. Half of an append: if the next checkpoint does not fit, an append has
    /// more than this many leaves.
    uint256 internal constant CHECKPOINT_LEAVES = MAX_APPEND_LEAVES / 2;

    /// @dev All counters, packed into one slot. Leaves are at most 2^30, and there are never more checkpoints than leaves.
    /// INoteTree.QueueState describes each field.
    struct State {
        uint32 size;
        uint32 appended;
        uint32 due;
        uint32 lastAppended;
        uint32 newest;
        uint8 newestLeaves;
        uint64 newestTime;
    }

    /// @dev The queue in storage.
    struct Storage {
        State state;
        mapping(uint256 slot => bytes32 chain) ring;
    }

    /// @dev Working copy of the queue during one call: each slot is read once and written once, however many leaves are
    /// pushed. `counters` is State as it is packed in its slot, because pushes are most of the work of a settle call.
    struct Cursor {
        uint256 counters;
        bytes32 chain;
        uint256 ringSize;
    }

    // Positions of the fields of State in its slot, lowest bit first. `size` is at 0.
    uint256 private constant LAST_APPENDED_BIT = 96;
    uint256 private constant NEWEST_BIT = 128;
    uint256 private constant NEWEST_LEAVES_BIT = 160;
    uint256 private constant NEWEST_TIME_BIT = 168;
    /// @dev Added to the counters by one leaf: size + 1, newestLeaves + 1.
    uint256 private constant ONE_LEAF = (1 << NEWEST_LEAVES_BIT) | 1;

    /// @notice Starts to push leaves, into a new checkpoint if the newest one is closed. Reverts if there is no room for the
    /// leaves.
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
        uint256 newest = uint32(counters >> NEWEST_BIT);
        // Of an earlier second, or an append ended there and set the time to 0: no leaf can join the newest checkpoint.
        // Not the block's number, which is another chain's on some chains. Blocks may share a time, but it never decreases.
        bool isClosed = uint64(counters >> NEWEST_TIME_BIT) != block.timestamp;
        // No sum or difference can wrap: all are far below 2^256, and lastAppended is never above newest.
        unchecked {
            if (size + leaves > maxLeaves) revert INoteTree.TreeFull(size, leaves);
            // Number of checkpoints that these leaves will begin: one if the newest is closed, and one before every leaf
            // that finds CHECKPOINT_LEAVES others in its checkpoint.
            uint256 begun =
                isClosed
                    ? 1 + (leaves - 1) / CHECKPOINT_LEAVES
                    : (uint8(counters >> NEWEST_LEAVES_BIT) + leaves - 1) / CHECKPOINT_LEAVES;
            uint256 pending = newest - uint32(counters >> LAST_APPENDED_BIT);
            // The slots of lastAppended and of all pending checkpoints must differ.
            if (pending + begun >= ringSize) revert INoteTree.QueueFull(pending);
            if (isClosed) {
                counters =
                    ((counters & ((1 << NEWEST_LEAVES_BIT) - 1)) + (1 << NEWEST_BIT)) |
                    (uint256(uint64(block.timestamp)) << NEWEST_TIME_BIT);
            }
        }

        cursor.chain = self.ring[newest % ringSize];
        cursor.ringSize = ringSize;
        cursor.counters = counters;
    }

    /// @notice Queues one leaf.
    /// @param self the queue
    /// @param cursor working copy from begin
    /// @param leaf the commitment; the caller has checked that 0 < leaf < p
    /// @return index of the leaf in the tree
    function push(Storage storage self, Cursor memory cursor, uint256 leaf) internal returns (uint256 index) {
        uint256 counters = cursor.counters;
        // No counter can overflow: begin has checked the room.
        unchecked {
            if (uint8(counters >> NEWEST_LEAVES_BIT) == CHECKPOINT_LEAVES) {
                _writeNewest(self, cursor, counters);
                counters = counters + (1 << NEWEST_BIT) - (CHECKPOINT_LEAVES << NEWEST_LEAVES_BIT);
            }
            cursor.chain = fold(cursor.chain, leaf);
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
        _writeNewest(self, cursor, counters);
    }

    /// @dev The counters as they are packed in their slot.
    function _load(Storage storage self) private view returns (uint256 counters) {
        State storage state = self.state;
        assembly ("memory-safe") {
            counters := sload(state.slot)
        }
    }

    /// @dev Writes the chain into the slot of the newest checkpoint.
    function _writeNewest(Storage storage self, Cursor memory cursor, uint256 counters) private {
        self.ring[uint32(counters >> NEWEST_BIT) % cursor.ringSize] = cursor.chain;
    }

    /// @notice Takes the leaves up to a pending checkpoint off the queue, because they are in the tree now.
    /// @param self the queue
    /// @param state the counters as they were loaded; they are changed and written
    /// @param sequence number of the pending checkpoint
    /// @param count number of leaves up to and including its last one, since deployment
    function consume(Storage storage self, State memory state, uint256 sequence, uint256 count) internal {
        state.appended = uint32(count);
        state.due = state.size;
        state.lastAppended = uint32(sequence);
        if (sequence == state.newest) {
            // Leaves that are pushed later in this second go into a new checkpoint. No block has the time 0.
            state.newestLeaves = 0;
            state.newestTime = 0;
        }
        self.state = state;
    }

    /// @notice The keccak chain after the last leaf of a checkpoint, for checkpoints from lastAppended to newest. Reverts
    /// with UnknownCheckpoint for any other.
    /// @param self the queue
    /// @param state the counters as they were loaded
    /// @param sequence number of the checkpoint
    /// @param ringSize number of slots in the ring
    /// @return chain the keccak chain after its last leaf
    function chainAt(
        Storage storage self,
        State memory state,
        uint256 sequence,
        uint256 ringSize
    ) internal view returns (bytes32 chain) {
        if (sequence < state.lastAppended || sequence > state.newest) revert INoteTree.UnknownCheckpoint(sequence);
        return self.ring[sequence % ringSize];
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
}
