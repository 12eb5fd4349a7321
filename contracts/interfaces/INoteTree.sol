// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title The note tree and its queue
/// @notice The pool queues commitments by folding them into a keccak chain. Anyone may then move them into the tree, up
/// to 64 at a time, with one proof of the note_append circuit.
///
/// A checkpoint is a position in the queue where an append may end. A new one begins where `block.timestamp` changes, where the
/// current one has 32 leaves, and after an append that ended at the newest one. The first pending one has the sequence
/// `queue().lastAppended + 1`. To find how many leaves a checkpoint includes, fold the leaves from index `queue().appended` on
/// into `checkpoint(queue().lastAppended)`, until the chain is that of the checkpoint.
///
/// The newest checkpoint can grow while blocks have the time `queue().newestTime` and it has fewer than 32 leaves. All others are
/// final.
interface INoteTree {
    /// @notice State of the queue. Checkpoints are counted from 1; checkpoint 0 is the empty queue after deployment.
    /// @param size number of leaves ever queued; the index of the next leaf
    /// @param appended number of leaves in the tree; the next append starts at this index
    /// @param due number of leaves ever queued at the time of the last append; the next append must reach it, or move more
    /// than 32 leaves
    /// @param lastAppended sequence of the checkpoint at which the tree ends
    /// @param newest sequence of the newest checkpoint; those after `lastAppended` up to this one are pending
    /// @param newestLeaves number of leaves in the newest checkpoint; 0 if an append ended there
    /// @param newestTime time of the blocks in which these leaves were queued, seconds; 0 if an append ended there
    struct QueueState {
        uint256 size;
        uint256 appended;
        uint256 due;
        uint256 lastAppended;
        uint256 newest;
        uint256 newestLeaves;
        uint256 newestTime;
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
    /// @param pendingCheckpoints number of checkpoints that wait for an append
    error QueueFull(uint256 pendingCheckpoints);
    /// @notice An append moves 1 to 64 leaves.
    /// @param count number of leaves in the call
    error InvalidLeafCount(uint256 count);
    /// @notice There is no such checkpoint, it is in the tree already, or `checkpoint` no longer has its chain.
    /// @param sequence number of the checkpoint
    error UnknownCheckpoint(uint256 sequence);
    /// @notice The leaves are not those that were queued up to the checkpoint.
    /// @param expectedChain the keccak chain of the checkpoint
    /// @param actualChain the keccak chain after the leaves of the call
    error LeavesMismatch(bytes32 expectedChain, bytes32 actualChain);
    /// @notice The append has at most 32 leaves and leaves out one that was queued before the last append.
    /// @param due number of leaves, since deployment, that the append must reach
    /// @param end number of leaves that it reaches
    error AppendTooShort(uint256 due, uint256 end);
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
    /// The append must reach `queue().due` or move more than 32 leaves. An append of as many checkpoints as fit into 64
    /// leaves does one or the other. docs/protocol.md, "The checkpoints of the queue", shows when it can no longer fail.
    /// @param newRoot root of the tree after the append
    /// @param leaves the queued commitments from index `queue().appended` to the last one of the checkpoint, 1 to 64
    /// @param proof proof of the note_append circuit, in the word order of IVerifier.sol
    /// @param sequence number of the pending checkpoint at which this append ends
    function append(uint256 newRoot, uint256[] calldata leaves, uint256[8] calldata proof, uint256 sequence) external;

    /// @notice Current root of the tree.
    /// @return value a field element
    function root() external view returns (uint256 value);

    /// @notice Whether an append has ever produced this root. The root of the empty tree is not known.
    /// @param value the root
    /// @return known true if proofs on this root are accepted
    function isKnownRoot(uint256 value) external view returns (bool known);

    /// @notice State of the queue.
    /// @return state every counter
    function queue() external view returns (QueueState memory state);

    /// @notice The keccak chain after the last leaf of a checkpoint, which folds in all leaves since deployment:
    /// chain = keccak256(abi.encode(chain, leaf)), starting from 0.
    /// @dev Reverts with UnknownCheckpoint unless `queue().lastAppended` <= sequence <= `queue().newest`.
    /// @param sequence number of the checkpoint
    /// @return chain the keccak chain
    function checkpoint(uint256 sequence) external view returns (bytes32 chain);

    /// @notice Number of slots in the ring of checkpoints, at least 2. One checkpoint fewer may be pending.
    /// @return size number of slots
    function ringSize() external view returns (uint256 size);

    /// @notice The verifier of the note_append circuit.
    /// @return verifier its address
    function noteAppendVerifier() external view returns (address verifier);
}
