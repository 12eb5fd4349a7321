// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {INoteTree} from "./interfaces/INoteTree.sol";
import {INoteAppendVerifier} from "./interfaces/IVerifier.sol";
import {
    MAX_APPEND_LEAVES,
    NOTE_APPEND_CHALLENGE,
    NOTE_APPEND_EVALUATION,
    NOTE_APPEND_NEW_ROOT,
    NOTE_APPEND_PUBLIC_SIGNALS,
    TREE_CAPACITY
} from "./libraries/CircuitConstants.sol";
import {FIELD_MODULUS} from "./libraries/Bn254.sol";
import {NoteQueue} from "./libraries/NoteQueue.sol";

/// @title The note tree: an 8-ary Poseidon Merkle tree of depth 10, hashed off chain
/// @notice The contract keeps the order of the leaves (a keccak chain) and the roots. A proof of the note_append circuit
/// shows that a new root is the root of the old tree with the next queued leaves in it.
abstract contract NoteTree is INoteTree {
    using NoteQueue for NoteQueue.Storage;

    /// @notice Maximum number of leaves in the tree: 8^10.
    uint256 public constant MAX_LEAVES = TREE_CAPACITY;

    /// @notice Root of the tree without leaves.
    uint256 public constant EMPTY_ROOT = 5898205162225594818942615480905168986343366627564171239214392616160582691672;

    NoteQueue.Storage private _queue;
    uint256 private _root = EMPTY_ROOT;
    /// @dev Roots never expire: a nullifier prevents the second spend, and a proof on an older root still settles.
    mapping(uint256 root => bool known) private _knownRoots;

    INoteAppendVerifier private immutable _NOTE_APPEND_VERIFIER;

    /// @param verifier verifier of the note_append circuit
    constructor(INoteAppendVerifier verifier) {
        _NOTE_APPEND_VERIFIER = verifier;
    }

    /// @inheritdoc INoteTree
    function append(uint256 newRoot, uint256[] calldata leaves, uint256[8] calldata proof, uint256 sequence) external {
        NoteQueue.State memory state = _queue.state;
        uint256 start = state.appended;
        uint256 count = leaves.length;
        if (count == 0 || count > MAX_APPEND_LEAVES) revert InvalidLeafCount(count);
        if (newRoot >= FIELD_MODULUS) revert InvalidRoot(newRoot);
        if (sequence == state.lastAppended) revert UnknownCheckpoint(sequence);
        bytes32 expectedChain = _queue.chainAt(state, sequence, ringSize());
        // Without this rule an attacker could keep landing appends of one leaf first and make every honest proof stale.
        if (start + count < state.due && count <= NoteQueue.CHECKPOINT_LEAVES) {
            revert AppendTooShort(state.due, start + count);
        }
        bytes32 chain = NoteQueue.foldAll(_queue.chainAt(state, state.lastAppended, ringSize()), leaves);
        if (chain != expectedChain) revert LeavesMismatch(expectedChain, chain);

        uint256[NOTE_APPEND_PUBLIC_SIGNALS] memory signals;
        uint256 oldRoot = _root;
        // newRoot commits the prover to its old root, index and leaves before the challenge is known. Others than these
        // give the same evaluation with a probability of about 2^-217: docs/protocol.md, "The append challenge".
        uint256 challenge =
            uint256(keccak256(abi.encode(block.chainid, address(this), oldRoot, newRoot, start, count, leaves))) %
                FIELD_MODULUS;
        signals[NOTE_APPEND_NEW_ROOT] = newRoot;
        signals[NOTE_APPEND_CHALLENGE] = challenge;
        signals[NOTE_APPEND_EVALUATION] = NoteQueue.evaluate(oldRoot, start, leaves, challenge);
        if (!_NOTE_APPEND_VERIFIER.verifyNoteAppend(proof, signals)) revert InvalidAppendProof();

        _root = newRoot;
        _knownRoots[newRoot] = true;
        _queue.consume(state, sequence, start + count);
        emit Appended(newRoot, start, count);
    }

    /// @inheritdoc INoteTree
    function root() external view returns (uint256) {
        return _root;
    }

    /// @inheritdoc INoteTree
    function isKnownRoot(uint256 value) public view returns (bool) {
        return _knownRoots[value];
    }

    /// @inheritdoc INoteTree
    function queue() external view returns (QueueState memory) {
        NoteQueue.State memory state = _queue.state;
        return
            QueueState({
                size: state.size,
                appended: state.appended,
                due: state.due,
                lastAppended: state.lastAppended,
                newest: state.newest,
                newestLeaves: state.newestLeaves,
                newestTime: state.newestTime
            });
    }

    /// @inheritdoc INoteTree
    function checkpoint(uint256 sequence) external view returns (bytes32) {
        return _queue.chainAt(_queue.state, sequence, ringSize());
    }

    /// @inheritdoc INoteTree
    function noteAppendVerifier() external view returns (address) {
        return address(_NOTE_APPEND_VERIFIER);
    }

    /// @inheritdoc INoteTree
    function ringSize() public view virtual returns (uint256) {
        return 4096;
    }

    /// @dev Starts to push `leaves` leaves, at least one. Reverts if there is no room; callers do this before they verify a
    /// proof.
    function _beginPush(uint256 leaves) internal returns (NoteQueue.Cursor memory cursor) {
        _queue.begin(cursor, leaves, MAX_LEAVES, ringSize());
    }

    /// @dev Queues one commitment, which the caller has checked to be below p.
    /// @return leafIndex index of the commitment in the tree
    function _push(NoteQueue.Cursor memory cursor, uint256 commitment) internal returns (uint256 leafIndex) {
        if (commitment == 0) revert InvalidCommitment(commitment);
        return _queue.push(cursor, commitment);
    }

    /// @dev Queues two commitments, which the caller has checked to be neither 0 nor p or above.
    /// @return leafIndex index of the first commitment in the tree
    function _pushPair(
        NoteQueue.Cursor memory cursor,
        uint256 first,
        uint256 second
    ) internal returns (uint256 leafIndex) {
        leafIndex = _queue.push(cursor, first);
        _queue.push(cursor, second);
    }

    /// @dev Writes to storage what was pushed since _beginPush.
    function _commitPush(NoteQueue.Cursor memory cursor) internal {
        _queue.commit(cursor);
    }
}
