// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IWithdrawalVerifier} from "../interfaces/IVerifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {CircuitConstants as Circuit} from "../libraries/CircuitConstants.sol";
import {NoteQueue} from "../libraries/NoteQueue.sol";
import {PoolContext} from "../libraries/PoolContext.sol";
import {SignalRange} from "../libraries/SignalRange.sol";
import {PoolState} from "./PoolState.sol";

/// @title Up to eight notes out, one note and tokens in
abstract contract PoolWithdrawals is PoolState, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    IWithdrawalVerifier private immutable _WITHDRAWAL_VERIFIER;

    constructor(address withdrawalVerifier_) {
        _requireCode(withdrawalVerifier_);
        _WITHDRAWAL_VERIFIER = IWithdrawalVerifier(withdrawalVerifier_);
        // As for payments: the verifier of this circuit, and one that refuses.
        uint256[8] memory proof;
        uint256[13] memory signals;
        if (_WITHDRAWAL_VERIFIER.verifyProof(proof, signals)) revert InvalidConfiguration();
        uint256[42] memory key = _WITHDRAWAL_VERIFIER.verificationKey();
        _requireDelta(key[6], key[7], key[10], key[11]);
    }

    /// @inheritdoc IShieldedPool
    function withdraw(Withdrawal calldata withdrawal) external nonReentrant {
        uint256[13] calldata signals = withdrawal.signals;
        _checkWithdrawal(withdrawal);
        // A changeHint of 0 says that no note is left: nothing is queued then, so a full tree or queue keeps nobody in.
        bool hasOutput = signals[Circuit.WITHDRAWAL_CHANGE_HINT] != 0;
        NoteQueue.Cursor memory cursor;
        if (hasOutput) cursor = _beginPush(1);
        if (!_WITHDRAWAL_VERIFIER.verifyProof(withdrawal.proof, signals)) revert InvalidProof();

        bytes32 digest = keccak256(abi.encode(signals));
        uint256[8] memory nullifiers;
        for (uint256 i = 0; i < Circuit.WITHDRAWAL_INPUTS; ++i) {
            uint256 nullifier = signals[Circuit.WITHDRAWAL_NULLIFIERS + i];
            if (nullifier == 0) continue;
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
            _spend(nullifier, digest);
            nullifiers[i] = nullifier;
        }
        uint256 commitment = 0;
        uint256 leafIndex = 0;
        if (hasOutput) {
            commitment = signals[Circuit.WITHDRAWAL_COMMITMENT];
            leafIndex = _push(cursor, commitment);
            _commitPush(cursor);
        }

        uint256 amount = signals[Circuit.WITHDRAWAL_AMOUNT];
        emit Withdrawn(
            withdrawal.recipient,
            digest,
            nullifiers,
            amount,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil,
            signals[Circuit.WITHDRAWAL_CHANGE_HINT],
            commitment,
            leafIndex
        );
        _send(withdrawal.recipient, amount - withdrawal.fee);
        _send(withdrawal.feeRecipient, withdrawal.fee);
    }

    /// @inheritdoc IShieldedPool
    function withdrawalVerifier() external view returns (address) {
        return address(_WITHDRAWAL_VERIFIER);
    }

    function _checkWithdrawal(Withdrawal calldata withdrawal) private view {
        uint256[13] calldata signals = withdrawal.signals;
        SignalRange.requireWithdrawal(signals);
        uint256 expected = PoolContext.withdrawal(
            withdrawal.recipient,
            withdrawal.fee,
            withdrawal.feeRecipient,
            withdrawal.validUntil
        );
        uint256 actual = signals[Circuit.WITHDRAWAL_CONTEXT];
        if (expected != actual) revert ContextMismatch(0, expected, actual);
        if (block.timestamp > withdrawal.validUntil) revert WithdrawalExpired(withdrawal.validUntil);
        uint256 value = signals[Circuit.WITHDRAWAL_ROOT];
        if (!isKnownRoot(value)) revert RootUnknown(value);

        uint256 amount = signals[Circuit.WITHDRAWAL_AMOUNT];
        if (withdrawal.fee > amount) revert FeeAboveAmount(withdrawal.fee, amount);
        if (amount != withdrawal.fee) _checkRecipient(withdrawal.recipient);
        if (withdrawal.fee != 0) _checkRecipient(withdrawal.feeRecipient);

        // Without a nullifier a proof could be replayed for ever; the circuit says the same.
        if (signals[Circuit.WITHDRAWAL_NULLIFIERS] == 0) revert NullifierAlreadySpent(0);
        for (uint256 i = 0; i < Circuit.WITHDRAWAL_INPUTS; ++i) {
            uint256 nullifier = signals[Circuit.WITHDRAWAL_NULLIFIERS + i];
            if (isSpent(nullifier)) revert NullifierAlreadySpent(nullifier);
        }
    }

    function _checkRecipient(address recipient) private view {
        if (recipient == address(0) || recipient == address(this)) revert InvalidRecipient(recipient);
    }

    /// @dev Some tokens refuse transfers of 0, and nobody needs them.
    function _send(address to, uint256 amount) private {
        if (amount != 0) IERC20(_TOKEN).safeTransfer(to, amount);
    }
}
