// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {INoteTree} from "../../../contracts/interfaces/INoteTree.sol";
import {IShieldedPool} from "../../../contracts/interfaces/IShieldedPool.sol";
import {AppendStep, DepositStep, Fixture, Kind, PaymentStep, Step, WithdrawalStep} from "./Fixture.sol";
import {ForgedCalls} from "./ForgedCalls.sol";

/// @title Calls that the fuzzer may make: those of a recorded pool, with real proofs
/// @notice The steps are made in their order, out of order, twice, together, changed in one word, and by anyone.
abstract contract RecordedCalls is ForgedCalls {
    Step[] internal steps;
    DepositStep[] private _deposits;
    PaymentStep[] private _payments;
    WithdrawalStep[] private _withdrawals;
    AppendStep[] private _appends;
    uint256 private _next;

    function _load(Fixture memory fixture) internal {
        for (uint256 i = 0; i < fixture.steps.length; ++i) steps.push(fixture.steps[i]);
        for (uint256 i = 0; i < fixture.deposits.length; ++i) _deposits.push(fixture.deposits[i]);
        for (uint256 i = 0; i < fixture.payments.length; ++i) {
            PaymentStep memory step = fixture.payments[i];
            _payments.push(step);
            Payment storage proved = payments[keccak256(abi.encode(step.call.signals))];
            proved.proved = true;
            proved.validUntil = step.call.validUntil;
            proved.signals = step.call.signals;
            proved.amounts = step.amounts;
        }
        for (uint256 i = 0; i < fixture.withdrawals.length; ++i) {
            WithdrawalStep memory step = fixture.withdrawals[i];
            _withdrawals.push(step);
            Withdrawal storage proved = withdrawals[keccak256(abi.encode(step.call.signals))];
            proved.proved = true;
            proved.call = step.call;
            proved.amounts = step.amounts;
            proved.output = step.output;
        }
        for (uint256 i = 0; i < fixture.appends.length; ++i) {
            AppendStep memory step = fixture.appends[i];
            _appends.push(step);
            // The model's root is 0 until the first append.
            uint256 oldRoot = step.startIndex == 0 ? 0 : step.oldRoot;
            bytes32 key = keccak256(abi.encode(oldRoot, step.newRoot, step.startIndex, step.leaves.length));
            appends[key] = keccak256(abi.encode(step.leaves));
        }
    }

    /// @dev Makes the next step of the recorded order that is not a conflict.
    function next(uint256 seed) external timed {
        _makeNext(senders[seed % 4]);
    }

    function _makeNext(address sender) internal {
        while (_next < steps.length && steps[_next].conflict) ++_next;
        if (_next == steps.length) revert Refused();
        _call(sender, _callOf(steps[_next++]));
    }

    /// @dev Makes any step; in half of the cases with one changed word.
    function replay(uint256 seed) external timed {
        seed = _random(seed, salt);
        bytes memory data = _callOf(steps[(seed >> 8) % steps.length]);
        if (seed % 2 == 0) _changeWord(data, seed >> 16);
        _call(senders[(seed >> 4) % 4], data);
    }

    /// @dev Settles two to four payments together, in any order, perhaps one of them twice.
    function settleTogether(uint256 seed) external timed {
        seed = _random(seed, salt);
        IShieldedPool.Payment[] memory batch = new IShieldedPool.Payment[](2 + (seed % 3));
        for (uint256 i = 0; i < batch.length; ++i) {
            batch[i] = _payments[(seed >> (8 * (i + 1))) % _payments.length].call;
        }
        bytes memory data = abi.encodeCall(IShieldedPool.settle, (batch));
        if ((seed >> 64) % 3 == 0) _changeWord(data, seed >> 72);
        _call(senders[(seed >> 4) % 4], data);
    }

    /// @dev Time passes slowly, because the recorded payments expire.
    function waitBriefly(uint256 seed) external {
        seed = _random(seed, salt);
        // Blocks may share a time.
        number += (seed >> 16) % 3;
        if (seed % 3 != 0) time += (seed >> 8) % 20;
    }

    function _callOf(Step memory step) private view returns (bytes memory) {
        if (step.kind == Kind.Deposit) {
            DepositStep storage made = _deposits[step.index];
            return abi.encodeCall(IShieldedPool.deposit, (made.ownerTags, made.amounts));
        }
        if (step.kind == Kind.Payment) {
            IShieldedPool.Payment[] memory batch = new IShieldedPool.Payment[](1);
            batch[0] = _payments[step.index].call;
            return abi.encodeCall(IShieldedPool.settle, (batch));
        }
        if (step.kind == Kind.Withdrawal) {
            return abi.encodeCall(IShieldedPool.withdraw, (_withdrawals[step.index].call));
        }
        AppendStep storage move = _appends[step.index];
        uint256 end = firstPending;
        while (end + 1 < groups.length && groups[end].count < move.startIndex + move.leaves.length) ++end;
        return abi.encodeCall(INoteTree.append, (move.newRoot, move.leaves, move.proof, end + 1));
    }

    /// @notice Each recorded exit of an unspent note can be executed: the owner gets the proved amount.
    function canExitRecorded() external timed returns (string memory) {
        for (uint256 i = 0; i < _withdrawals.length; ++i) {
            IShieldedPool.Withdrawal memory call = _withdrawals[i].call;
            bool possible = call.signals[12] == 0 && knownRoot[call.signals[2]] && time <= call.validUntil;
            for (uint256 j = 3; j < 11; ++j) possible = possible && spentBy[call.signals[j]] == 0;
            if (!possible) continue;
            uint256 before = token.balanceOf(call.recipient);
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, ) = address(pool).call(abi.encodeCall(IShieldedPool.withdraw, (call)));
            if (!success) return "an owner cannot withdraw a note";
            if (token.balanceOf(call.recipient) != before + call.signals[1] - call.fee)
                return "an owner did not get the whole note";
            return "";
        }
        return "";
    }
}
