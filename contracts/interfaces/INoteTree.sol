// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title The note tree and its queue
/// @notice Commitments are queued by folding them into a keccak chain and moved into the tree, up to 64 at a time, with
/// one proof of the note_append circuit, by anyone.
///
/// How to find the pending checkpoints from the events: take the leaves from `queue().appended` on, in order of their
/// index; a new checkpoint begins where the block number changes and where the current one holds 64 leaves. The first
/// of them has sequence `queue().firstPending`. Its `chain` starts from `queue().appendedChain` and is folded with
/// `chain = keccak256(abi.encode(chain, leaf))`.
interface INoteTree {
    /// @notice A place in the queue where an append may end.
    /// @param sequence number of the checkpoint, counted from 0
    /// @param chain value of the keccak chain after its last leaf
    /// @param count leaves queued up to and including its last leaf, since the pool exists
    /// @param timestamp of the block in which its leaves were queued, seconds
    struct Checkpoint {
        uint256 sequence;
        bytes32 chain;
        uint256 count;
        uint256 timestamp;
    }

    /// @notice State of the queue.
    /// @param size leaves ever queued; the next leaf gets this index
    /// @param appended leaves already in the tree; the next append starts here
    /// @param chain value of the keccak chain after `size` leaves
    /// @param appendedChain value of the keccak chain after `appended` leaves
    /// @param firstPending sequence of the first checkpoint not yet appended
    /// @param open sequence of the checkpoint that the last leaves went into; [firstPending, open) are closed
    /// @param openLeaves leaves in the open checkpoint not yet appended; 0: there is no open checkpoint
    /// @param openBlock block number of its leaves
    /// @param openTimestamp block timestamp of its leaves, seconds
    struct QueueState {
        uint256 size;
        uint256 appended;
        bytes32 chain;
        bytes32 appendedChain;
        uint256 firstPending;
        uint256 open;
        uint256 openLeaves;
        uint256 openBlock;
        uint256 openTimestamp;
    }

    /// @notice Leaves startIndex .. startIndex + count - 1 are in the tree, whose root is now newRoot.
    event Appended(uint256 indexed newRoot, uint256 startIndex, uint256 count);

    /// @notice A commitment is 0 or not below the field modulus.
    error InvalidCommitment(uint256 commitment);
    /// @notice The tree has no room for `leaves` more.
    error TreeFull(uint256 size, uint256 leaves);
    /// @notice The ring of checkpoints is full: somebody has to append first.
    error QueueFull(uint256 pendingCheckpoints);
    /// @notice An append moves 1 to 64 leaves, and exactly as many as its end says.
    error InvalidLeafCount(uint256 expected, uint256 actual);
    /// @notice The end or next checkpoint is not (or no longer) one of the pending ones, or its words differ.
    error UnknownCheckpoint(uint256 sequence);
    /// @notice The leaves are not the ones that were queued.
    error LeavesMismatch(bytes32 expectedChain, bytes32 actualChain);
    /// @notice A checkpoint older than 120 s was left out though there was room for it.
    error AppendTooShort(uint256 nextSequence, uint256 nextTimestamp);
    /// @notice The new root is not below the field modulus.
    error InvalidRoot(uint256 root);
    /// @notice The proof of the note_append circuit does not hold for these leaves, this start and this tree.
    error InvalidAppendProof();

    /// @notice Move the next queued leaves into the tree. Anyone may call it.
    /// @dev Public signals of the proof: oldRoot, newRoot, startIndex, count, z, y where
    /// z = keccak256(abi.encode(chain id, pool, oldRoot, newRoot, startIndex, count, leaves)) mod p: the abi
    /// encoding of five uint256, one address and a uint256[] (with its offset and length). y = sum of leaves[i] * z^i
    /// mod p, i from 0.
    /// It must reach every checkpoint older than 120 s, as far as 64 leaves allow.
    /// @param newRoot root of the tree after the append
    /// @param leaves the queued commitments from `queue().appended` on, 1 to 64, ending where `end` ends
    /// @param proof of the note_append circuit, wire order
    /// @param end the pending checkpoint at which this append ends
    /// @param next the checkpoint after it. Read only if `end` is older than 120 s and the one after it is closed
    /// (sequence below `queue().open`); otherwise anything, for example zeros
    function append(
        uint256 newRoot,
        uint256[] calldata leaves,
        uint256[8] calldata proof,
        Checkpoint calldata end,
        Checkpoint calldata next
    ) external;

    /// @notice Current root of the tree.
    function root() external view returns (uint256);

    /// @notice Whether the tree ever had this root (after an append; the empty tree's root is not one of them).
    function isKnownRoot(uint256 value) external view returns (bool);

    /// @notice The whole state of the queue.
    function queue() external view returns (QueueState memory);

    /// @notice keccak256(abi.encode(chain, count, timestamp)) of a closed pending checkpoint, or of the open one.
    /// @dev Reverts with UnknownCheckpoint for all others.
    /// @param sequence number of the checkpoint
    function checkpoint(uint256 sequence) external view returns (bytes32);

    /// @notice Closed checkpoints that may be pending at once.
    function ringSize() external view returns (uint256);

    /// @notice The verifier of the note_append circuit.
    function noteAppendVerifier() external view returns (address);
}
