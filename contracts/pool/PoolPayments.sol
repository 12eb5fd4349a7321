// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IPaymentVerifier} from "../interfaces/IVerifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {BatchVerifier} from "../libraries/BatchVerifier.sol";
import {CircuitConstants as Circuit} from "../libraries/CircuitConstants.sol";
import {NoteQueue} from "../libraries/NoteQueue.sol";
import {PoolContext} from "../libraries/PoolContext.sol";
import {SignalRange} from "../libraries/SignalRange.sol";
import {PoolState} from "./PoolState.sol";

/// @title Private payments: a note out, two notes in, no token moves
abstract contract PoolPayments is PoolState {
    IPaymentVerifier private immutable _PAYMENT_VERIFIER;

    constructor(address paymentVerifier_) {
        _requireCode(paymentVerifier_);
        _PAYMENT_VERIFIER = IPaymentVerifier(paymentVerifier_);
        // A verifier of another circuit has no such function and reverts; any of the right one refuses a proof of zeros.
        // Found here, before there is money in the pool that nothing could take out again.
        uint256[8] memory proof;
        uint256[10] memory signals;
        if (_PAYMENT_VERIFIER.verifyProof(proof, signals)) revert InvalidConfiguration();
        uint256[36] memory key = _PAYMENT_VERIFIER.verificationKey();
        _requireDelta(key[6], key[7], key[10], key[11]);
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
    function paymentVerifier() external view returns (address) {
        return address(_PAYMENT_VERIFIER);
    }

    /// @dev Which payments can settle, decided before the first write and before the pairing. What is malformed whatever
    /// the state reverts; what lost a race is skipped.
    function _choose(Payment[] calldata payments) private returns (uint8[] memory outcomes, uint256[] memory chosen) {
        outcomes = new uint8[](payments.length);
        chosen = new uint256[](payments.length);
        uint256 count = 0;
        for (uint256 i = 0; i < payments.length; ++i) {
            uint256 nullifier = _checkPayment(i, payments[i]);
            Outcome outcome = _outcome(payments, i, nullifier, chosen, count);
            if (outcome == Outcome.Settled) {
                chosen[count++] = i;
            } else {
                outcomes[i] = uint8(outcome);
                emit Skipped(nullifier, outcome);
            }
        }
        // The array only ever gets shorter.
        assembly ("memory-safe") {
            mstore(chosen, count)
        }
    }

    function _checkPayment(uint256 index, Payment calldata payment) private view returns (uint256 nullifier) {
        uint256[10] calldata signals = payment.signals;
        SignalRange.requirePayment(index, signals);
        uint256 expected = PoolContext.payment(payment.validUntil, payment.resourceDigest);
        uint256 actual = signals[Circuit.PAYMENT_RESOURCE_URL];
        if (expected != actual) revert ContextMismatch(index, expected, actual);
        nullifier = signals[Circuit.PAYMENT_NULLIFIER];
        uint256 recipientNote = signals[Circuit.PAYMENT_COMMITMENTS];
        uint256 changeNote = signals[Circuit.PAYMENT_COMMITMENTS + 1];
        bool hasZero;
        // One branch for the three: this runs for every payment.
        assembly ("memory-safe") {
            hasZero := or(iszero(nullifier), or(iszero(recipientNote), iszero(changeNote)))
        }
        if (hasZero) {
            // 0 stands for the unused inputs of a withdrawal: it is the nullifier of no note.
            if (nullifier == 0) revert NullifierAlreadySpent(0);
            revert InvalidCommitment(0);
        }
    }

    function _outcome(
        Payment[] calldata payments,
        uint256 index,
        uint256 nullifier,
        uint256[] memory chosen,
        uint256 count
    ) private view returns (Outcome) {
        Payment calldata payment = payments[index];
        if (isSpent(nullifier)) return Outcome.NullifierSpent;
        if (block.timestamp > payment.validUntil) return Outcome.Expired;
        if (!isKnownRoot(payment.signals[Circuit.PAYMENT_ROOT])) return Outcome.UnknownRoot;
        for (uint256 i = 0; i < count; ++i) {
            if (payments[chosen[i]].signals[Circuit.PAYMENT_NULLIFIER] == nullifier) return Outcome.NullifierSpent;
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
        _spend(signals[Circuit.PAYMENT_NULLIFIER], digest);
        uint256 leafIndex = _push(cursor, signals[Circuit.PAYMENT_COMMITMENTS]);
        _push(cursor, signals[Circuit.PAYMENT_COMMITMENTS + 1]);
        emit Settled(
            signals[Circuit.PAYMENT_NULLIFIER],
            digest,
            signals[Circuit.PAYMENT_ENCRYPTED_AMOUNT],
            signals[Circuit.PAYMENT_ENCRYPTED_AMOUNT + 1],
            signals[Circuit.PAYMENT_AMOUNT_HINT],
            signals[Circuit.PAYMENT_CHANGE_HINT],
            signals[Circuit.PAYMENT_COMMITMENTS],
            signals[Circuit.PAYMENT_COMMITMENTS + 1],
            leafIndex
        );
    }
}
