// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title The note tree and its queue
/// @notice The pool queues commitments by folding them into a keccak chain. Anyone may then move them into the tree, up
/// to 64 at a time, with one proof of the note_append circuit.
///
/// To find the pending checkpoints from the events, take the leaves from index `queue().appended` on, in order. A new
/// checkpoint begins where the block number changes and where the current checkpoint has 64 leaves. The first of these
/// checkpoints has the sequence `queue().firstPending`. Its chain starts from `queue().appendedChain`, and each leaf is
/// folded in with `chain = keccak256(abi.encode(chain, leaf))`.
interface INoteTree {
    /// @notice A position in the queue where an append may end.
    /// @param sequence number of the checkpoint, counted from 0
    /// @param chain the keccak chain after its last leaf
    /// @param count number of leaves queued since deployment, up to and including its last leaf
    /// @param timestamp timestamp of the block in which its leaves were queued, seconds
    struct Checkpoint {
        uint256 sequence;
        bytes32 chain;
        uint256 count;
        uint256 timestamp;
    }

    /// @notice State of the queue.
    /// @param size number of leaves ever queued; the index of the next leaf
    /// @param appended number of leaves in the tree; the next append starts at this index
    /// @param chain the keccak chain after `size` leaves
    /// @param appendedChain the keccak chain after `appended` leaves
    /// @param firstPending sequence of the first checkpoint that is not in the tree
    /// @param open sequence of the open checkpoint, or of the next one if none is open; [firstPending, open) are closed
    /// @param openLeaves number of leaves in the open checkpoint; 0 if no checkpoint is open
    /// @param openBlock number of the block in which these leaves were queued
    /// @param openTimestamp timestamp of that block, seconds
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

    /// @notice An append moved leaves from the queue into the tree.
    /// @param newRoot root of the tree with these leaves
    /// @param startIndex index of the first of these leaves
    /// @param count number of these leaves
    event Appended(uint256 indexed newRoot, uint256 startIndex, uint256 count);

    /// @notice A commitment is 0 or not below the field modulus.
    /// @param commitment the commitment
    error InvalidCommitment(uint256 commitment);
    /// @notice The tree has no room for that many leaves.
    /// @param size number of leaves ever queued
    /// @param leaves number of leaves to queue
    error TreeFull(uint256 size, uint256 leaves);
    /// @notice The ring of checkpoints is full. Append first, then try again.
    /// @param pendingCheckpoints number of closed checkpoints that wait for an append
    error QueueFull(uint256 pendingCheckpoints);
    /// @notice An append moves 1 to 64 leaves, exactly as many as the checkpoint `end` includes.
    /// @param expected number of leaves from the tree to `end`
    /// @param actual number of leaves in the call
    error InvalidLeafCount(uint256 expected, uint256 actual);
    /// @notice A checkpoint is not pending, or not pending any more, or its chain, count or timestamp differs.
    /// @param sequence number of the checkpoint
    error UnknownCheckpoint(uint256 sequence);
    /// @notice The leaves are not those that were queued.
    /// @param expectedChain the keccak chain of the checkpoint `end`
    /// @param actualChain the keccak chain after the leaves of the call
    error LeavesMismatch(bytes32 expectedChain, bytes32 actualChain);
    /// @notice The append ends before a checkpoint that is older than 120 s and would fit.
    /// @param nextSequence number of that checkpoint
    /// @param nextTimestamp its timestamp, seconds
    error AppendTooShort(uint256 nextSequence, uint256 nextTimestamp);
    /// @notice The new root is not below the field modulus.
    /// @param root the new root
    error InvalidRoot(uint256 root);
    /// @notice The proof of the note_append circuit is not valid for these leaves, this start index and this tree.
    error InvalidAppendProof();

    /// @notice Moves the next queued leaves into the tree. Anyone may call it.
    /// @dev Public signals of the proof: newRoot, challenge z, evaluation y.
    /// z = keccak256(abi.encode(chain id, pool, oldRoot, newRoot, startIndex, count, leaves)) mod p, where `leaves` is
    /// encoded as uint256[] with its offset and length, the pool as an address, and all others as uint256.
    /// y = oldRoot + startIndex * z + sum of leaves[i] * z^(2 + i) mod p, with i from 0.
    /// The append must include every checkpoint older than 120 s, as far as 64 leaves allow.
    /// @param newRoot root of the tree after the append
    /// @param leaves the queued commitments from index `queue().appended` to the last one of `end`, 1 to 64
    /// @param proof proof of the note_append circuit, in the word order of IVerifier.sol
    /// @param end the pending checkpoint at which this append ends
    /// @param next the checkpoint after `end`; read only if `end` is older than 120 s and `next` is closed (its sequence
    /// is below `queue().open`), otherwise any value, for example zeros
    function append(
        uint256 newRoot,
        uint256[] calldata leaves,
        uint256[8] calldata proof,
        Checkpoint calldata end,
        Checkpoint calldata next
    ) external;

    /// @notice Current root of the tree.
    /// @return value a field element
    function root() external view returns (uint256 value);

    /// @notice Whether an append has ever produced this root. The root of the empty tree is not known.
    /// @param value the root
    /// @return known true if proofs on this root are accepted
    function isKnownRoot(uint256 value) external view returns (bool known);

    /// @notice State of the queue.
    /// @return state every counter and both chains
    function queue() external view returns (QueueState memory state);

    /// @notice Hash of a pending checkpoint, closed or open.
    /// @dev Reverts with UnknownCheckpoint for every other checkpoint.
    /// @param sequence number of the checkpoint
    /// @return hash keccak256(abi.encode(chain, count, timestamp))
    function checkpoint(uint256 sequence) external view returns (bytes32 hash);

    /// @notice Maximum number of closed checkpoints that may be pending.
    /// @return size number of slots in the ring
    function ringSize() external view returns (uint256 size);

    /// @notice The verifier of the note_append circuit.
    /// @return verifier its address
    function noteAppendVerifier() external view returns (address verifier);
}
