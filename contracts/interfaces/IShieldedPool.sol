// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {INoteTree} from "./INoteTree.sol";
import {PAYMENT_SIGNALS, WITHDRAWAL_INPUTS, WITHDRAWAL_SIGNALS} from "../libraries/CircuitConstants.sol";

/// @title The shielded pool
/// @notice Holds one ERC-20 token for notes, which are spent with zero-knowledge proofs. The proofs bind every value, so
/// anyone may call every function and a front-runner gains nothing. There is no owner and no admin.
/// In these comments p is the order of the BN254 scalar field, and keccak256(a, b, ..) means keccak256(abi.encode(a, b,
/// ..)).
interface IShieldedPool is INoteTree {
    /// @notice A private payment.
    /// @param proof proof of the payment circuit, in the word order of IVerifier.sol
    /// @param signals recipientAddress, resourceUrl, encryptedAmount (ephemeralX, hiddenCipherX), amountHint, root,
    /// nullifier, commitments (recipient's note, change note), changeHint; circuits.json describes each
    /// @param validUntil last second in which the payment may settle
    /// @param resourceDigest keccak256(keccak256(resourceUrl), timestamp, senderCommitment);
    /// signals[1] = keccak256(chain id, pool, validUntil, resourceDigest) mod p
    struct Payment {
        uint256[8] proof;
        uint256[PAYMENT_SIGNALS] signals;
        uint64 validUntil;
        bytes32 resourceDigest;
    }

    /// @notice A withdrawal, a merge, or both.
    /// @param proof proof of the withdrawal circuit, in the word order of IVerifier.sol
    /// @param signals context, amount, root, nullifiers[8] (0 if unused; the first is always used), commitment,
    /// changeHint; context = keccak256(chain id, pool, recipient, fee, feeRecipient, validUntil) mod p
    /// @param statementHash Poseidon11 (domain 7) of signals 1 to 11; the proof's public signals are this hash,
    /// z = keccak256(statementHash, keccak256(signals)) mod p, and the sum of signals[1 + i] * z^i mod p
    /// @param recipient receives amount - fee
    /// @param fee token base units, part of the amount
    /// @param feeRecipient receives the fee
    /// @param validUntil last second in which the withdrawal may be executed
    struct Withdrawal {
        uint256[8] proof;
        uint256[WITHDRAWAL_SIGNALS] signals;
        uint256 statementHash;
        address recipient;
        uint256 fee;
        address feeRecipient;
        uint64 validUntil;
    }

    /// @notice Outcome of one payment of a settle call: an entry of `outcomes`, and the value of `Skipped.outcome`.
    /// 0: settled. 1: skipped, the nullifier was spent before or earlier in the same batch. 2: skipped, validUntil has
    /// passed. 3: skipped, the root is unknown.
    enum Outcome {
        Settled,
        NullifierSpent,
        Expired,
        UnknownRoot
    }

    /// @notice A note was deposited. Its blinding is keccak256(chain id, pool, leafIndex) mod p.
    /// @param ownerTag owner tag of the note
    /// @param amount token base units
    /// @param commitment Poseidon3(amount, ownerTag, blinding)
    /// @param leafIndex index of the note in the tree
    event Deposited(uint256 indexed ownerTag, uint256 amount, uint256 commitment, uint256 leafIndex);

    /// @notice A deposit used its depositor's Permit2 authorization. Permit2 itself has no event for it.
    /// @param authorizer account whose tokens were deposited
    /// @param nonce the Permit2 nonce, keccak256(abi.encode(ownerTags, amounts, salt))
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    /// @notice A payment was settled.
    /// @param nullifier nullifier of the spent note
    /// @param digest keccak256 of the public signals
    /// @param ephemeralX x of R
    /// @param hiddenCipherX x of C plus the sender commitment mod p; the sender commitment hides x of C
    /// @param amountHint pad + amount mod p, for the recipient
    /// @param changeHint pad + change mod p, for the payer
    /// @param recipientCommitment commitment of the recipient's note, at leafIndex
    /// @param changeCommitment commitment of the change note, at leafIndex + 1
    /// @param leafIndex index of the recipient's note in the tree
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

    /// @notice A settle call skipped a payment, and nothing of that payment happened. The event is emitted before any
    /// proof is verified, so anyone can have it emitted for any nullifier: it informs the caller and proves nothing.
    /// @param nullifier nullifier of the payment
    /// @param outcome the reason: NullifierSpent, Expired or UnknownRoot
    event Skipped(uint256 indexed nullifier, Outcome outcome);

    /// @notice Notes were merged, withdrawn, or both.
    /// @param recipient received amount - fee
    /// @param digest keccak256 of the thirteen signals
    /// @param nullifiers nullifiers of the spent notes, 0 where unused
    /// @param amount token base units that left the pool, including the fee
    /// @param fee token base units that feeRecipient received
    /// @param feeRecipient received the fee
    /// @param validUntil last second in which the withdrawal could be executed
    /// @param changeHint pad + amount of the output note mod p; 0 if no output note was made
    /// @param commitment commitment of the output note; 0 if none was made
    /// @param leafIndex index of the output note in the tree; 0 if none was made
    event Withdrawn(
        address indexed recipient,
        bytes32 digest,
        uint256[WITHDRAWAL_INPUTS] nullifiers,
        uint256 amount,
        uint256 fee,
        address feeRecipient,
        uint64 validUntil,
        uint256 changeHint,
        uint256 commitment,
        uint256 leafIndex
    );

    /// @notice A constructor argument could never work: an address without code, a verifier of another circuit, one that
    /// accepts a proof of zeros or whose key has the same delta and gamma, a hash other than Poseidon, or a smallest
    /// deposit of 0.
    /// @param setting the argument, named like its getter: token, paymentVerifier, withdrawalVerifier,
    /// noteAppendVerifier, noteHasher or smallestDeposit
    error InvalidConfiguration(string setting);
    /// @notice A deposit needs at least one note, and one amount for each owner tag.
    /// @param ownerTags number of owner tags
    /// @param amounts number of amounts
    error InvalidNoteCount(uint256 ownerTags, uint256 amounts);
    /// @notice An owner tag is 0 or not below the field modulus.
    /// @param ownerTag the owner tag
    error InvalidOwnerTag(uint256 ownerTag);
    /// @notice A note of a deposit is smaller than the smallest deposit.
    /// @param amount token base units of the note
    /// @param smallestDeposit token base units that each note must have at least
    error AmountTooSmall(uint256 amount, uint256 smallestDeposit);
    /// @notice The token transferred another amount than the pool asked for.
    /// @param expected token base units that the pool asked for
    /// @param actual token base units that arrived
    error WrongAmountReceived(uint256 expected, uint256 actual);
    /// @notice A settle call without payments.
    error NoPayments();
    /// @notice A public signal is not below the field modulus.
    /// @param index index of the payment in the call; 0 for a withdrawal
    /// @param signal index of the signal
    error SignalOutOfField(uint256 index, uint256 signal);
    /// @notice The signal that binds the proof to the chain, the pool and the terms does not match the call: resourceUrl
    /// of a payment, context of a withdrawal.
    /// @param index index of the payment in the call; 0 for a withdrawal
    /// @param expected the value computed from the call
    /// @param actual the value of the signal
    error ContextMismatch(uint256 index, uint256 expected, uint256 actual);
    /// @notice The proof of the payment, of at least one payment of the batch, or of the withdrawal is not valid.
    error InvalidProof();
    /// @notice A withdrawal spends a note that is already spent, or the same note twice. With nullifier 0: a payment or a
    /// withdrawal spends no note.
    /// @param nullifier the nullifier
    error NullifierAlreadySpent(uint256 nullifier);
    /// @notice The withdrawal has expired.
    /// @param validUntil last second in which it could be executed
    error WithdrawalExpired(uint256 validUntil);
    /// @notice A withdrawal was proved on a root that the tree never had.
    /// @param root the root
    error RootUnknown(uint256 root);
    /// @notice The fee is greater than the amount withdrawn.
    /// @param fee token base units
    /// @param amount token base units
    error FeeAboveAmount(uint256 fee, uint256 amount);
    /// @notice Tokens would go to the zero address or to the pool itself.
    /// @param recipient the address
    error InvalidRecipient(address recipient);

    /// @notice Deposits notes with tokens that the caller has approved.
    /// @param ownerTags owner tag of each note, 0 < tag < p
    /// @param amounts token base units of each note, at least `smallestDeposit()` each
    function deposit(uint256[] calldata ownerTags, uint64[] calldata amounts) external;

    /// @notice Deposits notes with tokens of `from`, using an EIP-3009 authorization. Anyone may submit it.
    /// @dev The signed message is the token's ReceiveWithAuthorization to this pool. Its value is the sum of the amounts.
    /// Its nonce is keccak256(abi.encode(ownerTags, amounts, salt)), so nobody can redirect the notes. A relayer's fee is
    /// one of the notes.
    /// @param from account whose tokens are deposited and who signed the authorization
    /// @param ownerTags owner tag of each note, 0 < tag < p
    /// @param amounts token base units of each note, at least `smallestDeposit()` each
    /// @param salt any value; makes the nonce of two equal deposits different
    /// @param validAfter the authorization is valid after this second
    /// @param validBefore the authorization is valid before this second
    /// @param signature r, s and v, 65 bytes; or, if the token has the function of ISignedTransfer.sol, that of a contract
    /// account or of an account with a delegation (EIP-1271, EIP-7702), in its own format
    function depositWithAuthorization(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external;

    /// @notice Deposits notes with tokens of `from`, using a Permit2 authorization: for tokens without EIP-3009. Anyone may
    /// submit it.
    /// @dev The signed message is Permit2's PermitTransferFrom with this pool as the spender, the sum of the amounts, and the
    /// nonce keccak256(abi.encode(ownerTags, amounts, salt)), so nobody can redirect the notes. `from` must have approved
    /// Permit2, or sign `permit` too, so that it needs no ether even for its first deposit.
    /// @param from account whose tokens are deposited and who signed the authorization
    /// @param ownerTags owner tag of each note, 0 < tag < p
    /// @param amounts token base units of each note, at least `smallestDeposit()` each
    /// @param salt any value; makes the nonce of two equal deposits different
    /// @param deadline last second in which the authorization is valid
    /// @param signature that of a key, or of a contract account or account with a delegation (EIP-1271, EIP-7702)
    /// @param permit r, s and v of an EIP-2612 permit of `from` for Permit2, the same sum and deadline, 65 bytes; it is
    /// submitted first, and if the token refuses it, Permit2's allowance decides. Empty: none
    function depositWithPermit2(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 deadline,
        bytes calldata signature,
        bytes calldata permit
    ) external;

    /// @notice Settles one or more payments.
    /// @dev A payment that lost a race (spent, expired, unknown root) is skipped and reported. A malformed payment or an
    /// invalid proof reverts the whole call, so verify each payment before you send it.
    /// @param payments the payments, settled in this order
    /// @return outcomes an Outcome for each payment
    function settle(Payment[] calldata payments) external returns (uint8[] memory outcomes);

    /// @notice Merges up to eight notes and withdraws a part of their value.
    /// @dev With a changeHint of 0 no output note is queued, so users can exit even when the tree or the queue is full.
    /// Any value that the proof assigns to the output note is then lost, so wallets withdraw everything in that case.
    /// @param withdrawal the proof and where the tokens go
    function withdraw(Withdrawal calldata withdrawal) external;

    /// @notice Whether the note with this nullifier is spent.
    /// @param nullifier nullifier of the note
    /// @return spent true if a payment or a withdrawal has spent it
    function isSpent(uint256 nullifier) external view returns (bool spent);

    /// @notice Which payment or withdrawal spent the note with this nullifier.
    /// @param nullifier nullifier of the note
    /// @return digest keccak256 of the public signals of that payment or withdrawal; 0 if unspent
    function spentBy(uint256 nullifier) external view returns (bytes32 digest);

    /// @notice The token of all notes.
    /// @return erc20 its address
    function token() external view returns (address erc20);

    /// @notice Smallest amount of a deposited note.
    /// @return amount token base units
    function smallestDeposit() external view returns (uint64 amount);

    /// @notice The verifier of the payment circuit.
    /// @return verifier its address
    function paymentVerifier() external view returns (address verifier);

    /// @notice The verifier of the withdrawal circuit.
    /// @return verifier its address
    function withdrawalVerifier() external view returns (address verifier);

    /// @notice The deployed Poseidon library that hashes the commitments of deposits.
    /// @return hasher its address
    function noteHasher() external view returns (address hasher);
}
