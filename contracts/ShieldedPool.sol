// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {INoteAppendVerifier, IPaymentVerifier, IWithdrawalVerifier} from "./interfaces/IVerifier.sol";
import {INoteHasher} from "./interfaces/INoteHasher.sol";
import {IShieldedPool} from "./interfaces/IShieldedPool.sol";
import {BatchVerifier} from "./libraries/BatchVerifier.sol";
import {FIELD_MODULUS} from "./libraries/Field.sol";
import {NoteQueue} from "./libraries/NoteQueue.sol";
import {PoolContext} from "./libraries/PoolContext.sol";
import {Signals} from "./libraries/Signals.sol";
import {NoteTree} from "./NoteTree.sol";

/// @title The shielded pool
/// @notice See IShieldedPool. No owner, no admin, no upgrade.
contract ShieldedPool is IShieldedPool, NoteTree, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev Known answer: another hash would make notes that nobody can spend.
    uint256 private constant _HASH_OF_1_2_3 =
        6542985608222806190361240322586112750744169038454362455181422643027100751666;

    IERC20 private immutable _TOKEN;
    IPaymentVerifier private immutable _PAYMENT_VERIFIER;
    IWithdrawalVerifier private immutable _WITHDRAWAL_VERIFIER;
    INoteHasher private immutable _NOTE_HASHER;
    uint64 private immutable _SMALLEST_DEPOSIT;

    /// @dev keccak256 of the public signals that spent the note: as dear as a flag, and a payment can be told from
    /// another with the same nullifier.
    mapping(uint256 nullifier => bytes32 digest) private _spent;

    /// @param token_ the token of all notes: plain (no fee on transfers, no rebasing), with EIP-3009 for sponsored deposits
    /// @param paymentVerifier_ verifier of the payment circuit
    /// @param withdrawalVerifier_ verifier of the withdrawal circuit
    /// @param noteAppendVerifier_ verifier of the note_append circuit
    /// @param noteHasher_ Poseidon of three inputs
    /// @param smallestDeposit_ token base units, at least 1: what filling the queue costs
    constructor(
        address token_,
        address paymentVerifier_,
        address withdrawalVerifier_,
        address noteAppendVerifier_,
        address noteHasher_,
        uint64 smallestDeposit_
    ) NoteTree(INoteAppendVerifier(noteAppendVerifier_)) {
        if (
            token_.code.length == 0 ||
            paymentVerifier_.code.length == 0 ||
            withdrawalVerifier_.code.length == 0 ||
            noteAppendVerifier_.code.length == 0 ||
            noteHasher_.code.length == 0 ||
            smallestDeposit_ == 0
        ) revert InvalidConfiguration();
        _TOKEN = IERC20(token_);
        _PAYMENT_VERIFIER = IPaymentVerifier(paymentVerifier_);
        _WITHDRAWAL_VERIFIER = IWithdrawalVerifier(withdrawalVerifier_);
        _NOTE_HASHER = INoteHasher(noteHasher_);
        if (_NOTE_HASHER.hash([uint256(1), 2, 3]) != _HASH_OF_1_2_3) revert InvalidConfiguration();
        _SMALLEST_DEPOSIT = smallestDeposit_;
    }

    /// @inheritdoc IShieldedPool
    function deposit(uint256[] calldata ownerTags, uint64[] calldata amounts) external nonReentrant {
        uint256 total = _checkDeposit(ownerTags, amounts);
        uint256 balance = _TOKEN.balanceOf(address(this));
        _TOKEN.safeTransferFrom(msg.sender, address(this), total);
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
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external nonReentrant {
        uint256 total = _checkDeposit(ownerTags, amounts);
        uint256 balance = _TOKEN.balanceOf(address(this));
        // The authorization covers the amount, not whose notes it becomes: its nonce has to.
        IERC3009(address(_TOKEN)).receiveWithAuthorization(
            from,
            address(this),
            total,
            validAfter,
            validBefore,
            keccak256(abi.encode(ownerTags, amounts, salt)),
            v,
            r,
            s
        );
        _requireReceived(balance, total);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function settle(Payment[] calldata payments) external returns (uint8[] memory outcomes) {
        if (payments.length == 0) revert NoPayments();
        uint256[] memory chosen;
        (outcomes, chosen) = _choose(payments);
        if (chosen.length == 0) return outcomes;

        NoteQueue.Cursor memory cursor = _beginPush(2 * chosen.length);
        if (!_verify(payments, chosen)) revert InvalidProof();
        for (uint256 i = 0; i < chosen.length; ++i) _settleOne(cursor, payments[chosen[i]].signals);
        _commitPush(cursor);
    }

    /// @inheritdoc IShieldedPool
    function withdraw(Withdrawal calldata withdrawal) external nonReentrant {
        uint256[13] calldata signals = withdrawal.signals;
        _checkWithdrawal(withdrawal);
        NoteQueue.Cursor memory cursor = _beginPush(1);
        if (!_WITHDRAWAL_VERIFIER.verifyProof(withdrawal.proof, signals)) revert InvalidProof();

        bytes32 digest = keccak256(abi.encode(signals));
        uint256[8] memory nullifiers;
        for (uint256 i = 0; i < 8; ++i) {
            uint256 nullifier = signals[Signals.WITHDRAWAL_NULLIFIERS + i];
            if (nullifier == 0) continue;
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
            _spent[nullifier] = digest;
            nullifiers[i] = nullifier;
        }
        uint256 leafIndex = _push(cursor, signals[Signals.WITHDRAWAL_COMMITMENT]);
        _commitPush(cursor);

        uint256 amount = signals[Signals.WITHDRAWAL_AMOUNT];
        emit Withdrawn(
            withdrawal.recipient,
            digest,
            nullifiers,
            amount,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil,
            signals[Signals.WITHDRAWAL_CHANGE_HINT],
            signals[Signals.WITHDRAWAL_COMMITMENT],
            leafIndex
        );
        _send(withdrawal.recipient, amount - withdrawal.fee);
        _send(withdrawal.feeRecipient, withdrawal.fee);
    }

    /// @inheritdoc IShieldedPool
    function isSpent(uint256 nullifier) public view returns (bool) {
        return _spent[nullifier] != 0;
    }

    /// @inheritdoc IShieldedPool
    function spentBy(uint256 nullifier) external view returns (bytes32 digest) {
        return _spent[nullifier];
    }

    /// @inheritdoc IShieldedPool
    function token() external view returns (address) {
        return address(_TOKEN);
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

    /// @dev Everything a deposit is refused for; returns the sum of its amounts.
    function _checkDeposit(
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

    function _requireReceived(uint256 balanceBefore, uint256 total) private view {
        uint256 received = _TOKEN.balanceOf(address(this)) - balanceBefore;
        if (received != total) revert WrongAmountReceived(total, received);
    }

    function _pushDeposit(uint256[] calldata ownerTags, uint64[] calldata amounts) private {
        NoteQueue.Cursor memory cursor = _beginPush(ownerTags.length);
        for (uint256 i = 0; i < ownerTags.length; ++i) {
            uint256 index = cursor.state.size;
            uint256 commitment = _NOTE_HASHER.hash([amounts[i], ownerTags[i], PoolContext.depositBlinding(index)]);
            _push(cursor, commitment);
            emit Deposited(ownerTags[i], amounts[i], commitment, index);
        }
        _commitPush(cursor);
    }

    /// @dev Which payments can settle, decided before the first write and before the pairing. What is malformed whatever
    /// the state reverts; what lost a race is skipped.
    function _choose(Payment[] calldata payments) private returns (uint8[] memory outcomes, uint256[] memory chosen) {
        outcomes = new uint8[](payments.length);
        chosen = new uint256[](payments.length);
        uint256 count = 0;
        for (uint256 i = 0; i < payments.length; ++i) {
            _checkPayment(i, payments[i]);
            Outcome outcome = _outcome(payments, i, chosen, count);
            if (outcome == Outcome.Settled) {
                chosen[count++] = i;
            } else {
                outcomes[i] = uint8(outcome);
                emit Skipped(payments[i].signals[Signals.PAYMENT_NULLIFIER], outcome);
            }
        }
        // The array only ever gets shorter.
        assembly ("memory-safe") {
            mstore(chosen, count)
        }
    }

    function _checkPayment(uint256 index, Payment calldata payment) private view {
        Signals.requirePayment(index, payment.signals);
        uint256 expected = PoolContext.payment(payment.validUntil, payment.resourceDigest);
        uint256 actual = payment.signals[Signals.PAYMENT_RESOURCE];
        if (expected != actual) revert ContextMismatch(index, expected, actual);
        if (payment.signals[Signals.PAYMENT_COMMITMENTS] == 0) revert InvalidCommitment(0);
        if (payment.signals[Signals.PAYMENT_COMMITMENTS + 1] == 0) revert InvalidCommitment(0);
    }

    function _outcome(
        Payment[] calldata payments,
        uint256 index,
        uint256[] memory chosen,
        uint256 count
    ) private view returns (Outcome) {
        Payment calldata payment = payments[index];
        uint256 nullifier = payment.signals[Signals.PAYMENT_NULLIFIER];
        if (isSpent(nullifier)) return Outcome.NullifierSpent;
        if (block.timestamp > payment.validUntil) return Outcome.Expired;
        if (!isKnownRoot(payment.signals[Signals.PAYMENT_ROOT])) return Outcome.UnknownRoot;
        for (uint256 i = 0; i < count; ++i) {
            if (payments[chosen[i]].signals[Signals.PAYMENT_NULLIFIER] == nullifier) return Outcome.NullifierSpent;
        }
        return Outcome.Settled;
    }

    function _verify(Payment[] calldata payments, uint256[] memory chosen) private view returns (bool) {
        if (chosen.length > 1) return BatchVerifier.verify(_PAYMENT_VERIFIER, payments, chosen);
        Payment calldata payment = payments[chosen[0]];
        return _PAYMENT_VERIFIER.verifyProof(payment.proof, payment.signals);
    }

    function _settleOne(NoteQueue.Cursor memory cursor, uint256[10] calldata signals) private {
        bytes32 digest = keccak256(abi.encode(signals));
        _spent[signals[Signals.PAYMENT_NULLIFIER]] = digest;
        uint256 leafIndex = _push(cursor, signals[Signals.PAYMENT_COMMITMENTS]);
        _push(cursor, signals[Signals.PAYMENT_COMMITMENTS + 1]);
        emit Settled(
            signals[Signals.PAYMENT_NULLIFIER],
            digest,
            signals[Signals.PAYMENT_ENCRYPTED_AMOUNT],
            signals[Signals.PAYMENT_ENCRYPTED_AMOUNT + 1],
            signals[Signals.PAYMENT_AMOUNT_HINT],
            signals[Signals.PAYMENT_CHANGE_HINT],
            signals[Signals.PAYMENT_COMMITMENTS],
            signals[Signals.PAYMENT_COMMITMENTS + 1],
            leafIndex
        );
    }

    function _checkWithdrawal(Withdrawal calldata withdrawal) private view {
        uint256[13] calldata signals = withdrawal.signals;
        Signals.requireWithdrawal(signals);
        uint256 expected = PoolContext.withdrawal(
            withdrawal.recipient,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil
        );
        uint256 actual = signals[Signals.WITHDRAWAL_CONTEXT];
        if (expected != actual) revert ContextMismatch(0, expected, actual);
        if (block.timestamp > withdrawal.validUntil) revert WithdrawalExpired(withdrawal.validUntil);
        uint256 value = signals[Signals.WITHDRAWAL_ROOT];
        if (!isKnownRoot(value)) revert RootUnknown(value);

        uint256 amount = signals[Signals.WITHDRAWAL_AMOUNT];
        if (withdrawal.fee > amount) revert FeeAboveAmount(withdrawal.fee, amount);
        if (amount != withdrawal.fee) _checkRecipient(withdrawal.recipient);
        if (withdrawal.fee != 0) _checkRecipient(withdrawal.feeRecipient);

        // Without a nullifier a proof could be replayed for ever; the circuit says the same.
        if (signals[Signals.WITHDRAWAL_NULLIFIERS] == 0) revert NullifierAlreadySpent(0);
        for (uint256 i = 0; i < 8; ++i) {
            uint256 nullifier = signals[Signals.WITHDRAWAL_NULLIFIERS + i];
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
        }
    }

    function _checkRecipient(address recipient) private view {
        if (recipient == address(0) || recipient == address(this)) revert InvalidRecipient(recipient);
    }

    /// @dev Some tokens refuse transfers of 0, and nobody needs them.
    function _send(address to, uint256 amount) private {
        if (amount != 0) _TOKEN.safeTransfer(to, amount);
    }
}
