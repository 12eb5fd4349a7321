// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {INoteTree} from "./INoteTree.sol";

/// @title The shielded pool
/// @notice Holds one ERC-20 token for notes that are spent by zero-knowledge proofs. Everything is bound by the proofs:
/// every function may be called by anyone, and a front-runner gains nothing. There is no owner and no admin.
/// p is the BN254 scalar field; keccak256(a, b, ..) below is of abi.encode.
interface IShieldedPool is INoteTree {
    /// @notice A private payment.
    /// @param proof of the payment circuit, wire order
    /// @param signals recipientAddress, resourceUrl, encryptedAmount (ephemeralX, hiddenCipherX), amountHint, root, nullifier,
    /// commitments (to the recipient, change), changeHint
    /// @param validUntil last second in which the payment may settle
    /// @param resourceDigest keccak256(keccak256(resourceUrl), timestamp, senderCommitment);
    /// signals[1] = keccak256(chain id, pool, validUntil, resourceDigest) mod p
    struct Payment {
        uint256[8] proof;
        uint256[10] signals;
        uint64 validUntil;
        bytes32 resourceDigest;
    }

    /// @notice A withdrawal, a merge, or both.
    /// @param proof of the withdrawal circuit, wire order
    /// @param signals context, amount, root, nullifiers[8] (0: unused; the first is always used), commitment, changeHint;
    /// context = keccak256(chain id, pool, recipient, fee, feeRecipient, validUntil) mod p
    /// @param recipient gets amount - fee
    /// @param fee token base units, part of amount
    /// @param feeRecipient gets fee
    /// @param validUntil last second in which it may be executed
    struct Withdrawal {
        uint256[8] proof;
        uint256[13] signals;
        address recipient;
        uint256 fee;
        address feeRecipient;
        uint64 validUntil;
    }

    /// @notice What became of one payment of a settle call (index of `outcomes`, value of `Skipped.outcome`).
    /// 0 settled, 1 skipped: nullifier spent (before, or earlier in the same batch), 2 skipped: validUntil is over,
    /// 3 skipped: the root was never the tree's.
    enum Outcome {
        Settled,
        NullifierSpent,
        Expired,
        UnknownRoot
    }

    /// @notice One note was deposited. Its blinding is keccak256(chain id, pool, leafIndex) mod p.
    /// @param ownerTag owner tag of the note
    /// @param amount token base units
    /// @param commitment Poseidon3(amount, ownerTag, blinding)
    /// @param leafIndex its place in the tree
    event Deposited(uint256 indexed ownerTag, uint256 amount, uint256 commitment, uint256 leafIndex);

    /// @notice A payment was settled.
    /// @param nullifier of the spent note
    /// @param digest keccak256 of the ten public signals
    /// @param ephemeralX x of R
    /// @param hiddenCipherX x of C plus the sender commitment mod p, which hides it
    /// @param amountHint pad + amount, for the recipient
    /// @param changeHint pad + change, for the payer
    /// @param recipientCommitment the recipient's note, at leafIndex
    /// @param changeCommitment the change note, at leafIndex + 1
    /// @param leafIndex place of the recipient's note in the tree
    event Settled(
        uint256 indexed nullifier,
        bytes32 digest,
        uint256 ephemeralX,
        uint256 hiddenCipherX,
        uint256 amountHint,
        uint256 changeHint,
        uint256 recipientCommitment,
        uint256 changeCommitment,
        uint256 leafIndex
    );

    /// @notice A payment of a settle call was left out; nothing of it happened. Emitted before any proof is checked, so
    /// anyone can have it emitted for any nullifier: for the caller to read, evidence of nothing.
    event Skipped(uint256 indexed nullifier, Outcome outcome);

    /// @notice Notes were merged, withdrawn, or both.
    /// @param recipient got amount - fee
    /// @param digest keccak256 of the thirteen public signals
    /// @param nullifiers of the spent notes, 0 where unused
    /// @param amount that left the pool, with the fee
    /// @param fee that feeRecipient got
    /// @param feeRecipient who got the fee
    /// @param validUntil of the withdrawal
    /// @param changeHint pad + amount of the output note
    /// @param commitment of the output note, 0 where changeHint is 0: then none was made
    /// @param leafIndex of the output note, 0 where none was made
    event Withdrawn(
        address indexed recipient,
        bytes32 digest,
        uint256[8] nullifiers,
        uint256 amount,
        uint256 fee,
        address feeRecipient,
        uint64 validUntil,
        uint256 changeHint,
        uint256 commitment,
        uint256 leafIndex
    );

    /// @notice The constructor was given an address without code, a verifier that accepts zeros or whose key has the same
    /// delta and gamma, another hash than Poseidon, or a smallest deposit of 0. (A verifier of another circuit makes it
    /// revert without data.)
    error InvalidConfiguration();
    /// @notice A deposit needs at least one note, and as many amounts as owner tags.
    error InvalidNoteCount(uint256 ownerTags, uint256 amounts);
    /// @notice An owner tag is 0 or not below the field modulus.
    error InvalidOwnerTag(uint256 ownerTag);
    /// @notice A note of a deposit is smaller than the smallest deposit.
    error AmountTooSmall(uint256 amount, uint256 smallestDeposit);
    /// @notice The token moved another amount than it was asked to.
    error WrongAmountReceived(uint256 expected, uint256 actual);
    /// @notice A settle call without payments.
    error NoPayments();
    /// @notice A public signal is not below the field modulus. `index` is the payment's (0 for a withdrawal).
    error SignalOutOfField(uint256 index, uint256 signal);
    /// @notice The signal that binds chain, pool, date and what is paid for (or where it goes) is another one.
    error ContextMismatch(uint256 index, uint256 expected, uint256 actual);
    /// @notice The proof does not hold: of the payment, of at least one payment of the batch, or of the withdrawal.
    error InvalidProof();
    /// @notice A withdrawal spends a note that is already spent, twice the same note, or (0) no note at all.
    error NullifierAlreadySpent(uint256 nullifier);
    /// @notice A withdrawal came too late.
    error WithdrawalExpired(uint256 validUntil);
    /// @notice A withdrawal was proved on a root that the tree never had.
    error RootUnknown(uint256 root);
    /// @notice The fee is more than the amount withdrawn.
    error FeeAboveAmount(uint256 fee, uint256 amount);
    /// @notice Tokens would go to the zero address or to the pool itself.
    error InvalidRecipient(address recipient);

    /// @notice Deposit notes with tokens approved by the caller.
    /// @param ownerTags owner tag of each note, 0 < tag < p
    /// @param amounts token base units of each note, at least `smallestDeposit()` each
    function deposit(uint256[] calldata ownerTags, uint64[] calldata amounts) external;

    /// @notice Deposit notes with tokens of `from`, by an EIP-3009 authorization that anyone may submit.
    /// @dev The signed message is the token's ReceiveWithAuthorization to this pool, its value the sum of the amounts and
    /// its nonce keccak256(abi.encode(ownerTags, amounts, salt)), so that the notes cannot be redirected. A relayer's
    /// fee is one of the notes.
    function depositWithAuthorization(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 validAfter,
        uint256 validBefore,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;

    /// @notice Settle one or many payments.
    /// @dev A payment that lost a race (spent, too late, unknown root) is skipped and reported. A malformed payment or a
    /// proof that does not hold reverts the whole call: verify each first.
    /// @return outcomes an Outcome for each payment
    function settle(Payment[] calldata payments) external returns (uint8[] memory outcomes);

    /// @notice Merge up to eight notes and withdraw a part of them.
    /// @dev With a changeHint of 0 no output note is queued: the way out when there is no room for one. Whatever the proof
    /// left over is lost then, so a wallet leaves nothing.
    function withdraw(Withdrawal calldata withdrawal) external;

    /// @notice Whether the note with this nullifier is spent.
    function isSpent(uint256 nullifier) external view returns (bool);

    /// @notice keccak256 of the public signals of the payment or withdrawal that spent the note; 0 if unspent.
    function spentBy(uint256 nullifier) external view returns (bytes32 digest);

    /// @notice The token of all notes.
    function token() external view returns (address);

    /// @notice Smallest amount of one deposited note, token base units.
    function smallestDeposit() external view returns (uint64);

    /// @notice The verifier of the payment circuit.
    function paymentVerifier() external view returns (address);

    /// @notice The verifier of the withdrawal circuit.
    function withdrawalVerifier() external view returns (address);

    /// @notice The deployed Poseidon library that hashes deposits.
    function noteHasher() external view returns (address);
}
