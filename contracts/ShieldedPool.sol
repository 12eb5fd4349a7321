// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {NoteTree} from "./NoteTree.sol";
import {INoteHasher} from "./interfaces/INoteHasher.sol";
import {IPermit2} from "./interfaces/IPermit2.sol";
import {IShieldedPool} from "./interfaces/IShieldedPool.sol";
import {ISignedTransfer} from "./interfaces/ISignedTransfer.sol";
import {INoteAppendVerifier, IPaymentVerifier, IWithdrawalVerifier} from "./interfaces/IVerifier.sol";
import {BatchVerifier} from "./libraries/BatchVerifier.sol";
import {FIELD_MODULUS} from "./libraries/Bn254.sol";
import {Bn254Guard} from "./libraries/Bn254Guard.sol";
import {ChosenPayments} from "./libraries/ChosenPayments.sol";
// solhint does not read the assembly that uses some of these.
// solhint-disable no-unused-import
import {
    NOTE_APPEND_KEY_WORDS,
    NOTE_APPEND_PUBLIC_SIGNALS,
    PAYMENT_CHANGE_COMMITMENT_AT,
    PAYMENT_CHANGE_HINT_AT,
    PAYMENT_COMMITMENTS,
    PAYMENT_COMMITMENTS_AT,
    PAYMENT_ENCRYPTED_AMOUNT_AT,
    PAYMENT_KEY_WORDS,
    PAYMENT_NULLIFIER,
    PAYMENT_PUBLIC_SIGNALS,
    PAYMENT_RECIPIENT_COMMITMENT_AT,
    PAYMENT_RESOURCE_URL,
    PAYMENT_ROOT,
    PAYMENT_SIGNALS,
    PAYMENT_SIGNAL_BYTES,
    WITHDRAWAL_AMOUNT,
    WITHDRAWAL_CHANGE_HINT,
    WITHDRAWAL_COMMITMENT,
    WITHDRAWAL_CONTEXT,
    WITHDRAWAL_INPUTS,
    WITHDRAWAL_KEY_WORDS,
    WITHDRAWAL_NULLIFIERS,
    WITHDRAWAL_PUBLIC_SIGNALS,
    WITHDRAWAL_ROOT,
    WITHDRAWAL_SIGNALS
} from "./libraries/CircuitConstants.sol";
// solhint-enable no-unused-import
import {NoteQueue} from "./libraries/NoteQueue.sol";
import {SignalRange} from "./libraries/SignalRange.sol";
import {WithdrawalStatement} from "./libraries/WithdrawalStatement.sol";

/// @title The shielded pool
/// @notice IShieldedPool describes each function, event and error. The contract has no owner, no admin and no upgrade:
/// it stays as it was deployed.
/// @dev This file holds deposits, payments and withdrawals; NoteTree.sol holds the tree and the queue in front of it.
contract ShieldedPool is IShieldedPool, NoteTree, Bn254Guard, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev Poseidon3(1, 2, 3). The constructor compares it with the hasher's result, because nobody could spend notes
    /// that were made with another hash.
    uint256 private constant _HASH_OF_1_2_3 =
        6542985608222806190361240322586112750744169038454362455181422643027100751666;

    /// @dev The address of Permit2 on every chain that has it. Elsewhere depositWithPermit2 reverts.
    IPermit2 private constant _PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    address private immutable _TOKEN;
    uint64 private immutable _SMALLEST_DEPOSIT;
    INoteHasher private immutable _NOTE_HASHER;
    IPaymentVerifier private immutable _PAYMENT_VERIFIER;
    IWithdrawalVerifier private immutable _WITHDRAWAL_VERIFIER;

    /// @dev keccak256 of the public signals that spent the note. It costs no more gas than a flag and tells apart two
    /// payments with the same nullifier.
    mapping(uint256 nullifier => bytes32 digest) private _spent;

    /// @notice Reverts with InvalidConfiguration(setting) if a setting could never work.
    /// @param token_ token of all notes: no fee on transfers, no rebasing; EIP-3009 for depositWithAuthorization
    /// @param paymentVerifier_ verifier of the payment circuit
    /// @param withdrawalVerifier_ verifier of the withdrawal circuit
    /// @param noteAppendVerifier_ verifier of the note_append circuit
    /// @param noteHasher_ Poseidon of three inputs
    /// @param smallestDeposit_ token base units, at least 1; keeps dust out of the tree
    constructor(
        address token_,
        address paymentVerifier_,
        address withdrawalVerifier_,
        address noteAppendVerifier_,
        address noteHasher_,
        uint64 smallestDeposit_
    ) NoteTree(INoteAppendVerifier(noteAppendVerifier_)) {
        _requireCode(token_, "token");
        _requirePaymentVerifier(paymentVerifier_);
        _requireWithdrawalVerifier(withdrawalVerifier_);
        _requireNoteAppendVerifier(noteAppendVerifier_);
        _requireNoteHasher(noteHasher_);
        if (smallestDeposit_ == 0) revert InvalidConfiguration("smallestDeposit");
        _TOKEN = token_;
        _PAYMENT_VERIFIER = IPaymentVerifier(paymentVerifier_);
        _WITHDRAWAL_VERIFIER = IWithdrawalVerifier(withdrawalVerifier_);
        _NOTE_HASHER = INoteHasher(noteHasher_);
        _SMALLEST_DEPOSIT = smallestDeposit_;
    }

    /// @inheritdoc IShieldedPool
    function deposit(uint256[] calldata ownerTags, uint64[] calldata amounts) external nonReentrant {
        uint256 total = _requireValidDeposit(ownerTags, amounts);
        uint256 balance = IERC20(_TOKEN).balanceOf(address(this));
        IERC20(_TOKEN).safeTransferFrom(msg.sender, address(this), total);
        _requireReceived(balance, total);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function depositWithAuthorization(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external nonReentrant {
        uint256 total = _requireValidDeposit(ownerTags, amounts);
        uint256 balance = IERC20(_TOKEN).balanceOf(address(this));
        // The authorization itself covers only the amount. Its nonce binds the notes.
        bytes32 nonce = keccak256(abi.encode(ownerTags, amounts, salt));
        _receive(from, total, validAfter, validBefore, nonce, signature);
        _requireReceived(balance, total);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function depositWithPermit2(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 deadline,
        bytes calldata signature,
        bytes calldata permit
    ) external nonReentrant {
        uint256 total = _requireValidDeposit(ownerTags, amounts);
        if (permit.length == 65) _approvePermit2(from, total, deadline, permit);
        uint256 balance = IERC20(_TOKEN).balanceOf(address(this));
        bytes32 nonce = keccak256(abi.encode(ownerTags, amounts, salt));
        _PERMIT2.permitTransferFrom(
            IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(_TOKEN, total), uint256(nonce), deadline),
            IPermit2.SignatureTransferDetails(address(this), total),
            from,
            signature
        );
        _requireReceived(balance, total);
        emit AuthorizationUsed(from, nonce);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function settle(Payment[] calldata payments) external returns (uint8[] memory outcomes) {
        if (payments.length == 0) revert NoPayments();
        uint256[] memory chosen;
        (outcomes, chosen) = _choose(payments);
        uint256 count = ChosenPayments.count(chosen);
        if (count == 0) return outcomes;

        NoteQueue.Cursor memory cursor = _beginPush(count << 1);
        if (!_verify(chosen, count)) revert InvalidProof();
        for (uint256 i = 0; i < count; ++i) {
            (Payment calldata payment, bytes32 digest) = ChosenPayments.get(chosen, i);
            _settleOne(cursor, payment.signals, digest);
        }
        _commitPush(cursor);
        // Returns the array as it is in memory, where each uint8 has a word, instead of a checked copy. _choose has left room
        // for the offset before it.
        assembly ("memory-safe") {
            mstore(sub(outcomes, 0x20), 0x20)
            return(sub(outcomes, 0x20), add(0x40, shl(5, mload(outcomes))))
        }
    }

    /// @inheritdoc IShieldedPool
    function withdraw(Withdrawal calldata withdrawal) external nonReentrant {
        uint256[WITHDRAWAL_SIGNALS] calldata signals = withdrawal.signals;
        _requireValidWithdrawal(withdrawal);
        // A changeHint of 0 means that the withdrawal makes no output note. Nothing is queued in that case, so users can
        // exit even when the tree or the queue is full.
        bool hasOutput = signals[WITHDRAWAL_CHANGE_HINT] != 0;
        NoteQueue.Cursor memory cursor;
        if (hasOutput) cursor = _beginPush(1);
        bytes32 digest = keccak256(abi.encode(signals));
        uint256[WITHDRAWAL_PUBLIC_SIGNALS] memory publicSignals = WithdrawalStatement.publicSignals(
            withdrawal.statementHash,
            signals,
            digest
        );
        if (!_WITHDRAWAL_VERIFIER.verifyWithdrawal(withdrawal.proof, publicSignals)) revert InvalidProof();

        uint256[WITHDRAWAL_INPUTS] memory nullifiers;
        for (uint256 i = 0; i < WITHDRAWAL_INPUTS; ++i) {
            uint256 nullifier = signals[WITHDRAWAL_NULLIFIERS + i];
            if (nullifier == 0) continue;
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
            _spend(nullifier, digest);
            nullifiers[i] = nullifier;
        }
        uint256 commitment = 0;
        uint256 leafIndex = 0;
        if (hasOutput) {
            commitment = signals[WITHDRAWAL_COMMITMENT];
            leafIndex = _push(cursor, commitment);
            _commitPush(cursor);
        }

        uint256 amount = signals[WITHDRAWAL_AMOUNT];
        emit Withdrawn(
            withdrawal.recipient,
            digest,
            nullifiers,
            amount,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil,
            signals[WITHDRAWAL_CHANGE_HINT],
            commitment,
            leafIndex
        );
        _send(withdrawal.recipient, amount - withdrawal.fee);
        _send(withdrawal.feeRecipient, withdrawal.fee);
    }

    /// @inheritdoc IShieldedPool
    function spentBy(uint256 nullifier) external view returns (bytes32 digest) {
        return _spent[nullifier];
    }

    /// @inheritdoc IShieldedPool
    function token() external view returns (address) {
        return _TOKEN;
    }

    /// @inheritdoc IShieldedPool
    function smallestDeposit() external view returns (uint64) {
        return _SMALLEST_DEPOSIT;
    }

    /// @inheritdoc IShieldedPool
    function paymentVerifier() external view returns (address) {
        return address(_PAYMENT_VERIFIER);
    }

    /// @inheritdoc IShieldedPool
    function withdrawalVerifier() external view returns (address) {
        return address(_WITHDRAWAL_VERIFIER);
    }

    /// @inheritdoc IShieldedPool
    function noteHasher() external view returns (address) {
        return address(_NOTE_HASHER);
    }

    /// @inheritdoc IShieldedPool
    function isSpent(uint256 nullifier) public view returns (bool) {
        return _spent[nullifier] != 0;
    }

    /// @dev The caller has checked that the nullifier is unspent.
    function _spend(uint256 nullifier, bytes32 digest) private {
        _spent[nullifier] = digest;
    }

    // ==================================================================================================== DEPOSITS ==

    /// @dev Reverts if the deposit is not acceptable, before any token moves.
    /// @return total sum of the amounts, token base units
    function _requireValidDeposit(
        uint256[] calldata ownerTags,
        uint64[] calldata amounts
    ) private view returns (uint256 total) {
        uint256 count = ownerTags.length;
        if (count == 0 || count != amounts.length) revert InvalidNoteCount(count, amounts.length);
        for (uint256 i = 0; i < count; ++i) {
            uint256 tag = ownerTags[i];
            if (tag == 0 || tag >= FIELD_MODULUS) revert InvalidOwnerTag(tag);
            if (amounts[i] < _SMALLEST_DEPOSIT) revert AmountTooSmall(amounts[i], _SMALLEST_DEPOSIT);
            total += amounts[i];
        }
    }

    /// @dev Redeems an authorization. Every token with EIP-3009 takes the parts of a signature of 65 bytes; signatures of other
    /// lengths are those of contract accounts, which need a token that takes them whole.
    function _receive(
        address from,
        uint256 total,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) private {
        if (signature.length != 65) {
            ISignedTransfer(_TOKEN).receiveWithAuthorization(
                from,
                address(this),
                total,
                validAfter,
                validBefore,
                nonce,
                signature
            );
            return;
        }
        IERC3009(_TOKEN).receiveWithAuthorization(
            from,
            address(this),
            total,
            validAfter,
            validBefore,
            nonce,
            uint8(signature[64]),
            bytes32(signature[:32]),
            bytes32(signature[32:64])
        );
    }

    /// @dev Anyone who sees a permit can submit it first, and the token then refuses it here. So it decides nothing: without
    /// an allowance, Permit2 reverts.
    function _approvePermit2(address owner, uint256 total, uint256 deadline, bytes calldata permit) private {
        // solhint-disable no-empty-blocks
        try
            IERC20Permit(_TOKEN).permit(
                owner,
                address(_PERMIT2),
                total,
                deadline,
                uint8(permit[64]),
                bytes32(permit[:32]),
                bytes32(permit[32:64])
            )
        {} catch {}
        // solhint-enable no-empty-blocks
    }

    /// @dev Reverts if the token transferred another amount than `total`, for example because it charges a fee.
    function _requireReceived(uint256 balanceBefore, uint256 total) private view {
        uint256 received = IERC20(_TOKEN).balanceOf(address(this)) - balanceBefore;
        if (received != total) revert WrongAmountReceived(total, received);
    }

    /// @dev The only function that computes Poseidon on chain: a deposit is public and needs no proof.
    function _pushDeposit(uint256[] calldata ownerTags, uint64[] calldata amounts) private {
        NoteQueue.Cursor memory cursor = _beginPush(ownerTags.length);
        for (uint256 i = 0; i < ownerTags.length; ++i) {
            uint256 index = NoteQueue.nextIndex(cursor);
            uint256 commitment = _NOTE_HASHER.hash([amounts[i], ownerTags[i], _depositBlinding(index)]);
            _push(cursor, commitment);
            emit Deposited(ownerTags[i], amounts[i], commitment, index);
        }
        _commitPush(cursor);
    }

    /// @dev Blinding of a deposited note. It hides nothing, because a deposit is public. It lets a wallet recover its
    /// deposits from the chain, and makes the commitments of two deployments different.
    function _depositBlinding(uint256 leafIndex) private view returns (uint256) {
        return uint256(keccak256(abi.encode(block.chainid, address(this), leafIndex))) % FIELD_MODULUS;
    }

    // ==================================================================================================== PAYMENTS ==

    /// @dev Selects the payments that can settle and spends their nullifiers, before the pairing: a later payment of the
    /// batch with the same nullifier then finds it spent, without a comparison with each earlier one. If a proof is not
    /// valid, the call reverts and the nullifiers are unspent again. Reverts if a payment is malformed in every state of the
    /// pool; skips one that lost a race.
    /// @return outcomes an Outcome for each payment
    /// @return chosen the payments that can settle, a list of ChosenPayments
    function _choose(Payment[] calldata payments) private returns (uint8[] memory outcomes, uint256[] memory chosen) {
        uint256 length = payments.length;
        Payment calldata payment;
        assembly ("memory-safe") {
            payment := payments.offset
            // Like new uint8[](length), after a word that settle returns before it, and without the checks: the ABI decoder
            // has checked the length.
            outcomes := add(mload(0x40), 0x20)
            mstore(outcomes, length)
            let words := shl(5, length)
            calldatacopy(add(outcomes, 0x20), calldatasize(), words)
            mstore(0x40, add(add(outcomes, 0x20), words))
        }
        chosen = ChosenPayments.reserve(length);
        for (uint256 i = 0; i < length; ++i) {
            uint256 nullifier = _requireValidPayment(i, payment);
            uint256 outcome = _outcome(payment, nullifier);
            if (outcome == 0) {
                bytes32 digest = ChosenPayments.add(chosen, payment);
                _spend(nullifier, digest);
            } else {
                outcomes[i] = uint8(outcome);
                emit Skipped(nullifier, Outcome(outcome));
            }
            assembly ("memory-safe") {
                // The proof, the signals, validUntil and resourceDigest.
                payment := add(payment, add(0x140, PAYMENT_SIGNAL_BYTES))
            }
        }
    }

    /// @dev Reverts if the payment is malformed in every state of the pool.
    function _requireValidPayment(uint256 index, Payment calldata payment) private view returns (uint256 nullifier) {
        uint256[PAYMENT_SIGNALS] calldata signals = payment.signals;
        SignalRange.requirePayment(index, signals);
        uint256 expected = _paymentContext(payment.validUntil, payment.resourceDigest);
        uint256 actual = signals[PAYMENT_RESOURCE_URL];
        if (expected != actual) revert ContextMismatch(index, expected, actual);
        nullifier = signals[PAYMENT_NULLIFIER];
        bool hasZero;
        // One branch for the nullifier and both commitments, because this runs for every payment.
        assembly ("memory-safe") {
            hasZero := or(
                iszero(nullifier),
                or(
                    iszero(calldataload(add(signals, PAYMENT_RECIPIENT_COMMITMENT_AT))),
                    iszero(calldataload(add(signals, PAYMENT_CHANGE_COMMITMENT_AT)))
                )
            )
        }
        if (hasZero) {
            // Nullifier 0 marks the unused inputs of a withdrawal, so a payment must not use it.
            if (nullifier == 0) revert NullifierAlreadySpent(0);
            revert InvalidCommitment(0);
        }
    }

    /// @dev Outcome of a well-formed payment in the current state of the pool, before its proof is verified.
    function _outcome(Payment calldata payment, uint256 nullifier) private view returns (uint256) {
        if (isSpent(nullifier)) return uint256(Outcome.NullifierSpent);
        if (block.timestamp > payment.validUntil) return uint256(Outcome.Expired);
        if (!isKnownRoot(payment.signals[PAYMENT_ROOT])) return uint256(Outcome.UnknownRoot);
        return uint256(Outcome.Settled);
    }

    /// @dev Whether the proofs of all chosen payments are valid.
    function _verify(uint256[] memory chosen, uint256 count) private view returns (bool) {
        if (count > 1) return BatchVerifier.verify(_PAYMENT_VERIFIER, chosen, count);
        (Payment calldata payment, ) = ChosenPayments.get(chosen, 0);
        return BatchVerifier.verifyOne(_PAYMENT_VERIFIER, payment);
    }

    /// @dev Queues both notes of a payment whose proof was verified, and emits Settled. The payment is valid, so both
    /// commitments are below p and not 0.
    function _settleOne(
        NoteQueue.Cursor memory cursor,
        uint256[PAYMENT_SIGNALS] calldata signals,
        bytes32 digest
    ) private {
        uint256 nullifier = signals[PAYMENT_NULLIFIER];
        uint256 recipientNote = signals[PAYMENT_COMMITMENTS];
        uint256 changeNote;
        assembly ("memory-safe") {
            changeNote := calldataload(add(signals, PAYMENT_CHANGE_COMMITMENT_AT))
        }
        uint256 leafIndex = _pushPair(cursor, recipientNote, changeNote);
        bytes32 topic = Settled.selector;
        // The data of Settled: digest, encryptedAmount, amountHint, changeHint, commitments, leafIndex. The first two signals are
        // next to each other.
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, digest)
            calldatacopy(add(data, 0x20), add(signals, PAYMENT_ENCRYPTED_AMOUNT_AT), 0x60)
            mstore(add(data, 0x80), calldataload(add(signals, PAYMENT_CHANGE_HINT_AT)))
            calldatacopy(add(data, 0xa0), add(signals, PAYMENT_COMMITMENTS_AT), 0x40)
            mstore(add(data, 0xe0), leafIndex)
            log2(data, 0x100, topic, nullifier)
        }
    }

    /// @dev Signal `resourceUrl` of a payment: binds the proof to this chain and pool, to its expiry and to what is paid
    /// for: keccak256(chain id, pool, validUntil, resourceDigest) mod p. The reduction makes some values slightly more
    /// likely, which is harmless: contexts are compared, not drawn.
    function _paymentContext(uint64 validUntil, bytes32 resourceDigest) private view returns (uint256 context) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, chainid())
            mstore(add(buffer, 0x20), address())
            mstore(add(buffer, 0x40), and(validUntil, 0xffffffffffffffff))
            mstore(add(buffer, 0x60), resourceDigest)
            context := mod(keccak256(buffer, 0x80), FIELD_MODULUS)
        }
    }

    // ================================================================================================= WITHDRAWALS ==

    /// @dev Reverts if the withdrawal cannot be executed with any proof.
    function _requireValidWithdrawal(Withdrawal calldata withdrawal) private view {
        uint256[WITHDRAWAL_SIGNALS] calldata signals = withdrawal.signals;
        SignalRange.requireWithdrawal(signals);
        uint256 expected = _withdrawalContext(
            withdrawal.recipient,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil
        );
        uint256 actual = signals[WITHDRAWAL_CONTEXT];
        if (expected != actual) revert ContextMismatch(0, expected, actual);
        if (block.timestamp > withdrawal.validUntil) revert WithdrawalExpired(withdrawal.validUntil);
        uint256 value = signals[WITHDRAWAL_ROOT];
        if (!isKnownRoot(value)) revert RootUnknown(value);

        uint256 amount = signals[WITHDRAWAL_AMOUNT];
        if (withdrawal.fee > amount) revert FeeAboveAmount(withdrawal.fee, amount);
        if (amount != withdrawal.fee) _requireRecipient(withdrawal.recipient);
        if (withdrawal.fee != 0) _requireRecipient(withdrawal.feeRecipient);

        // Without a nullifier a proof could be replayed forever. The circuit requires the first one as well.
        if (signals[WITHDRAWAL_NULLIFIERS] == 0) revert NullifierAlreadySpent(0);
        for (uint256 i = 0; i < WITHDRAWAL_INPUTS; ++i) {
            uint256 nullifier = signals[WITHDRAWAL_NULLIFIERS + i];
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
        }
    }

    /// @dev Tokens sent to the zero address or to the pool itself would be lost.
    function _requireRecipient(address recipient) private view {
        if (recipient == address(0) || recipient == address(this)) revert InvalidRecipient(recipient);
    }

    /// @dev Sends nothing for an amount of 0, because some tokens reject such a transfer.
    function _send(address to, uint256 amount) private {
        if (amount != 0) IERC20(_TOKEN).safeTransfer(to, amount);
    }

    /// @dev Signal `context` of a withdrawal: binds the proof to this chain and pool and to where the tokens go.
    function _withdrawalContext(
        address recipient,
        uint256 fee,
        address feeRecipient,
        uint64 validUntil
    ) private view returns (uint256) {
        return
            uint256(keccak256(abi.encode(block.chainid, address(this), recipient, fee, feeRecipient, validUntil))) %
            FIELD_MODULUS;
    }

    // =============================================================================================== CONFIGURATION ==
    // The constructor checks its settings before the pool holds money that nothing could take out again.

    function _requireCode(address account, string memory setting) private view {
        if (account.code.length == 0) revert InvalidConfiguration(setting);
    }

    function _requireNoteHasher(address hasher) private view {
        string memory setting = "noteHasher";
        _requireCode(hasher, setting);
        try INoteHasher(hasher).hash([uint256(1), 2, 3]) returns (uint256 result) {
            if (result != _HASH_OF_1_2_3) revert InvalidConfiguration(setting);
        } catch {
            revert InvalidConfiguration(setting);
        }
    }

    function _requirePaymentVerifier(address verifier) private view {
        string memory setting = "paymentVerifier";
        _requireCode(verifier, setting);
        uint256[8] memory proof;
        uint256[PAYMENT_PUBLIC_SIGNALS] memory signals;
        try IPaymentVerifier(verifier).verifyPayment(proof, signals) returns (bool accepted) {
            if (accepted) revert InvalidConfiguration(setting);
            uint256[PAYMENT_KEY_WORDS] memory key = IPaymentVerifier(verifier).verificationKey();
            _requireSoundKey(setting, key[6], key[7], key[10], key[11]);
        } catch {
            // A verifier of another circuit has no function of this signature.
            revert InvalidConfiguration(setting);
        }
    }

    function _requireWithdrawalVerifier(address verifier) private view {
        string memory setting = "withdrawalVerifier";
        _requireCode(verifier, setting);
        uint256[8] memory proof;
        uint256[WITHDRAWAL_PUBLIC_SIGNALS] memory signals;
        try IWithdrawalVerifier(verifier).verifyWithdrawal(proof, signals) returns (bool accepted) {
            if (accepted) revert InvalidConfiguration(setting);
            uint256[WITHDRAWAL_KEY_WORDS] memory key = IWithdrawalVerifier(verifier).verificationKey();
            _requireSoundKey(setting, key[6], key[7], key[10], key[11]);
        } catch {
            revert InvalidConfiguration(setting);
        }
    }

    function _requireNoteAppendVerifier(address verifier) private view {
        string memory setting = "noteAppendVerifier";
        _requireCode(verifier, setting);
        uint256[8] memory proof;
        uint256[NOTE_APPEND_PUBLIC_SIGNALS] memory signals;
        try INoteAppendVerifier(verifier).verifyNoteAppend(proof, signals) returns (bool accepted) {
            if (accepted) revert InvalidConfiguration(setting);
            uint256[NOTE_APPEND_KEY_WORDS] memory key = INoteAppendVerifier(verifier).verificationKey();
            _requireSoundKey(setting, key[6], key[7], key[10], key[11]);
        } catch {
            revert InvalidConfiguration(setting);
        }
    }

    /// @dev Refuses a verification key whose delta is gamma or its negative: anyone can forge proofs for such a key. A key
    /// has them equal until its circuit's first contribution. A point and its negative have the same x, so comparing the
    /// x of both points is enough.
    function _requireSoundKey(
        string memory setting,
        uint256 gammaX1,
        uint256 gammaX0,
        uint256 deltaX1,
        uint256 deltaX0
    ) private pure {
        if (gammaX1 == deltaX1 && gammaX0 == deltaX0) revert InvalidConfiguration(setting);
    }
}
