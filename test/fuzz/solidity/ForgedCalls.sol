// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {INoteTree} from "../../../contracts/interfaces/INoteTree.sol";
import {IShieldedPool} from "../../../contracts/interfaces/IShieldedPool.sol";
import {FIELD_MODULUS} from "../../../contracts/libraries/Bn254.sol";
import {TestUSDC} from "../../../contracts/test/TestUSDC.sol";
import {Trapdoor} from "./Fixture.sol";
import {Forger} from "./Forger.sol";
import {PoolModel} from "./PoolModel.sol";
import {ShapeShifter} from "./ShapeShifter.sol";
import {vm} from "./Vm.sol";

/// @title Calls that the fuzzer may make: any history of deposits, payments, withdrawals and appends
/// @notice Each statement is one that an honest prover could prove, with a forged proof (see Forger). The calls are also
/// repeated, combined, changed in one word, sent by others, and made from within a token's transfer.
abstract contract ForgedCalls is PoolModel {
    using Forger for Trapdoor;

    uint256 internal constant DEPOSITOR_KEY = 0xd0;
    uint256 private constant CALLS = 24;

    Trapdoor internal paymentKey;
    Trapdoor internal withdrawalKey;
    Trapdoor internal appendKey;

    /// @dev Accounts that withdrawals pay, and accounts that send calls and pay deposits.
    address[4] internal people = [address(0xa1), address(0xa2), address(0xa3), address(0xa4)];
    address[4] internal senders = [address(0xc1), address(0xc2), address(0xc3), address(0xc4)];
    /// @dev Makes the sequences of the properties differ, although the runner draws the same numbers for each.
    uint256 internal salt;
    bytes[] internal calls;
    IShieldedPool.Payment[] internal made;
    uint256 private _count;

    // ===================================================================================================== DEPOSITS ==

    function deposit(uint256 seed) external timed {
        seed = _random(seed, salt);
        (uint256[] memory tags, uint64[] memory values) = _notes(seed);
        _send(senders[seed % 4], abi.encodeCall(IShieldedPool.deposit, (tags, values)), seed);
    }

    /// @dev Somebody else sends what the depositor signed.
    function depositSigned(uint256 seed) external timed {
        seed = _random(seed, salt);
        (uint256[] memory tags, uint64[] memory values) = _notes(seed % 7 == 0 ? seed + 1 : seed);
        address from = vm.addr(DEPOSITOR_KEY);
        bytes32 nonce = keccak256(abi.encode(tags, values, bytes32(seed)));
        signedDeposits[from][nonce] = true;
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(DEPOSITOR_KEY, _authorization(from, _sum(values), nonce));
        bytes memory data = abi.encodeCall(
            IShieldedPool.depositWithAuthorization,
            (from, tags, values, bytes32(seed), 0, type(uint256).max, abi.encodePacked(r, s, v))
        );
        _send(senders[(seed >> 8) % 4], data, seed);
    }

    function _authorization(address from, uint256 value, bytes32 nonce) private view returns (bytes32) {
        TestUSDC dollar = TestUSDC(address(token));
        bytes32 kind = dollar.RECEIVE_WITH_AUTHORIZATION_TYPEHASH();
        bytes32 message = keccak256(abi.encode(kind, from, address(pool), value, 0, type(uint256).max, nonce));
        return keccak256(abi.encodePacked(hex"1901", dollar.DOMAIN_SEPARATOR(), message));
    }

    /// @dev One to three notes; sometimes more than a checkpoint holds.
    function _notes(uint256 seed) private pure returns (uint256[] memory tags, uint64[] memory values) {
        uint256 count = seed % 13 == 0 ? 60 + ((seed >> 16) % 8) : 1 + ((seed >> 16) % 3);
        tags = new uint256[](count);
        values = new uint64[](count);
        for (uint256 i = 0; i < count; ++i) {
            tags[i] = _field(keccak256(abi.encode("tag", seed, i)));
            values[i] = uint64(10_000 + ((seed >> 32) % 1_000_000) + i);
        }
    }

    function _sum(uint64[] memory values) private pure returns (uint256 total) {
        for (uint256 i = 0; i < values.length; ++i) total += values[i];
    }

    // ===================================================================================================== PAYMENTS ==

    /// @dev One to four payments: new ones, also of spent notes, on unknown roots and about to expire; and old ones.
    function settle(uint256 seed) external timed {
        seed = _random(seed, salt);
        IShieldedPool.Payment[] memory batch = new IShieldedPool.Payment[](1 + (seed % 4));
        for (uint256 i = 0; i < batch.length; ++i) {
            uint256 random = _random(seed, i);
            if (made.length != 0 && random % 5 == 0) batch[i] = made[(random >> 8) % made.length];
            else batch[i] = _pay(random);
        }
        _send(senders[(seed >> 8) % 4], abi.encodeCall(IShieldedPool.settle, (batch)), seed);
    }

    function _pay(uint256 random) private returns (IShieldedPool.Payment memory payment) {
        (uint256 note, uint256 known) = _note(random);
        uint256 amount = amounts[note];
        uint256 paid = (random >> 40) % (amount + 1);
        payment.validUntil = _deadline(random >> 16);
        payment.resourceDigest = bytes32(_random(random, 1));
        uint256[] memory signals = new uint256[](10);
        for (uint256 i = 0; i < 10; ++i) signals[i] = _field(keccak256(abi.encode(random, "signal", i)));
        signals[1] =
            uint256(keccak256(abi.encode(block.chainid, address(pool), payment.validUntil, payment.resourceDigest))) %
            FIELD_MODULUS;
        signals[5] = (random >> 24) % 16 == 0 ? _field(bytes32(random)) : known;
        signals[6] = _nullifier(note);
        payment.proof = paymentKey.prove(signals);
        for (uint256 i = 0; i < 10; ++i) payment.signals[i] = signals[i];
        bytes32 digest = keccak256(abi.encode(payment.signals));
        Payment storage proved = payments[digest];
        proved.proved = true;
        proved.validUntil = payment.validUntil;
        proved.signals = payment.signals;
        proved.amounts = [amount, paid, amount - paid];
        made.push(payment);
    }

    // ================================================================================================== WITHDRAWALS ==

    function withdraw(uint256 seed) external timed {
        seed = _random(seed, salt);
        address to = people[(seed >> 8) % 4];
        IShieldedPool.Withdrawal memory call = _withdrawal(seed, 1 + (seed % 4), seed % 2 == 0, to);
        if ((seed >> 208) % 4 == 0) {
            // Somebody who saw the withdrawal sends it first, with other terms.
            (address recipient, address feeRecipient, uint256 fee) = (call.recipient, call.feeRecipient, call.fee);
            uint256 kind = (seed >> 212) % 3;
            if (kind == 0) call.recipient = people[(seed >> 216) % 4];
            else if (kind == 1) call.feeRecipient = people[(seed >> 216) % 4];
            else call.fee = call.signals[1];
            // solhint-disable-next-line no-empty-blocks
            try this.frontRun(senders[(seed >> 192) % 4], abi.encodeCall(IShieldedPool.withdraw, (call))) {} catch {}
            (call.recipient, call.feeRecipient, call.fee) = (recipient, feeRecipient, fee);
        }
        _send(senders[(seed >> 16) % 4], abi.encodeCall(IShieldedPool.withdraw, (call)), seed);
    }

    /// @dev A withdrawal of up to `count` different notes; everything, with no output note, if `exit` is set.
    function _withdrawal(
        uint256 random,
        uint256 count,
        bool exit,
        address to
    ) private returns (IShieldedPool.Withdrawal memory call) {
        uint256[] memory signals = new uint256[](13);
        uint256[8] memory values;
        uint256 total = 0;
        signals[2] =
            roots.length == 0 || (random >> 56) % 16 == 0 ? _field(bytes32(random)) : roots[roots.length - 1].root;
        for (uint256 i = 0; i < count; ++i) {
            (uint256 note, ) = _note(_random(random, i));
            bool repeated = false;
            for (uint256 j = 0; j < i; ++j) repeated = repeated || signals[3 + j] == _nullifier(note);
            if (repeated) break;
            signals[3 + i] = _nullifier(note);
            values[i] = amounts[note];
            total += amounts[note];
        }
        signals[1] = exit ? total : (random >> 64) % (total + 1);
        call.recipient = to;
        call.fee = (random >> 32) % (signals[1] + 1);
        call.feeRecipient = people[(random >> 24) % 4];
        call.validUntil = _deadline(random >> 48);
        return _proved(call, signals, values, total - signals[1], exit ? 0 : _field(bytes32(random)));
    }

    function _proved(
        IShieldedPool.Withdrawal memory call,
        uint256[] memory signals,
        uint256[8] memory values,
        uint256 output,
        uint256 hint
    ) private returns (IShieldedPool.Withdrawal memory) {
        bytes32 context = keccak256(
            abi.encode(block.chainid, address(pool), call.recipient, call.fee, call.feeRecipient, call.validUntil)
        );
        signals[0] = uint256(context) % FIELD_MODULUS;
        signals[11] = _field(keccak256(abi.encode(context, signals[3], output)));
        signals[12] = hint;
        for (uint256 i = 0; i < 13; ++i) call.signals[i] = signals[i];
        bytes32 digest = keccak256(abi.encode(call.signals));
        // The contract never computes the hash, so any value can serve as the hash of these signals.
        call.statementHash = _field(digest);
        uint256[] memory shown = new uint256[](3);
        shown[0] = call.statementHash;
        shown[1] = uint256(keccak256(abi.encode(shown[0], digest))) % FIELD_MODULUS;
        // The value at the challenge of the polynomial with signals 1 to 11 as coefficients.
        for (uint256 i = 11; i != 0; --i) {
            shown[2] = addmod(mulmod(shown[2], shown[1], FIELD_MODULUS), signals[i], FIELD_MODULUS);
        }
        call.proof = withdrawalKey.prove(shown);
        Withdrawal storage proved = withdrawals[digest];
        proved.proved = true;
        proved.call = call;
        proved.amounts = values;
        proved.output = output;
        return call;
    }

    // ====================================================================================================== APPENDS ==

    function append(uint256 seed) external timed {
        seed = _random(seed, salt);
        uint256 longest = _longest();
        if (longest == 0) revert Refused();
        uint256 kind = (seed >> 16) % 8;
        // Sometimes the append of as little as possible, which the pool may have to reject.
        if (kind == 5) longest = 1;
        bytes memory data = _append(1 + (seed % longest), kind == 7);
        if (kind == 6) {
            // The new root is the first word after the selector; the proof is of another.
            bytes32 other = bytes32(_field(bytes32(seed)));
            assembly ("memory-safe") {
                mstore(add(data, 0x24), other)
            }
        }
        _send(senders[(seed >> 8) % 4], data, seed);
    }

    /// @dev The append of the first `count` pending checkpoints; of leaves that nobody queued if `other` is set, which its
    /// prover can prove, but the pool must not accept.
    function _append(uint256 count, bool other) internal returns (bytes memory) {
        uint256 last = firstPending + count - 1;
        uint256[] memory moved = new uint256[](groups[last].count - appended);
        for (uint256 i = 0; i < moved.length; ++i) moved[i] = leaves[appended + i];
        if (other) moved[0] = _field(keccak256(abi.encode(moved[0])));
        uint256 oldRoot = appended == 0 ? INoteTree(address(pool)).root() : root;
        // The contract never computes a root, so any value can serve as the root of the tree with these leaves.
        uint256 newRoot = _field(keccak256(abi.encode(oldRoot, moved)));
        bytes32 z = keccak256(
            abi.encode(block.chainid, address(pool), oldRoot, newRoot, appended, moved.length, moved)
        );
        uint256[] memory signals = new uint256[](3);
        (signals[0], signals[1]) = (newRoot, uint256(z) % FIELD_MODULUS);
        // The value at z of the polynomial with the coefficients oldRoot, appended and then the leaves.
        uint256 power = 1;
        for (uint256 i = 0; i < moved.length + 2; ++i) {
            uint256 coefficient =
                i == 0
                    ? oldRoot
                    : i == 1
                        ? appended
                        : moved[i - 2];
            signals[2] = addmod(signals[2], mulmod(coefficient, power, FIELD_MODULUS), FIELD_MODULUS);
            power = mulmod(power, signals[1], FIELD_MODULUS);
        }
        appends[keccak256(abi.encode(root, newRoot, appended, moved.length))] = keccak256(abi.encode(moved));
        return abi.encodeCall(INoteTree.append, (newRoot, moved, appendKey.prove(signals), last + 1));
    }

    // ======================================================================================================= OTHERS ==

    /// @dev Sends a call that somebody made before once more, from anyone, as it was or with one changed word.
    function interfere(uint256 seed) external timed {
        seed = _random(seed, salt);
        if (calls.length == 0) revert Refused();
        bytes memory data = calls[(seed >> 8) % calls.length];
        if (seed % 4 != 0) _changeWord(data, seed >> 16);
        _call(senders[(seed >> 4) % 4], data);
    }

    function wait_(uint256 seed) external {
        seed = _random(seed, salt);
        // Blocks may share a time.
        number += (seed >> 16) % 3;
        if (seed % 3 != 0) time += [uint256(12), 60, 121, 300][(seed >> 8) % 4];
    }

    /// @dev Somebody sends tokens to the pool.
    function donate(uint256 seed) public {
        uint256 amount = 1 + (seed % 1_000_000);
        TestUSDC(address(token)).mint(address(pool), amount);
        donated += amount;
    }

    /// @dev Somebody sends tokens to the pool, or the token's issuer blocks or unblocks a recipient.
    function disturb(uint256 seed) external {
        seed = _random(seed, salt);
        address person = people[(seed >> 8) % 4];
        if (seed % 3 == 0) donate(seed);
        else if (!honestToken) ShapeShifter(address(token)).setBlocked(person, seed % 3 == 1);
        else if (seed % 3 == 1) TestUSDC(address(token)).blacklist(person);
        else TestUSDC(address(token)).unBlacklist(person);
    }

    /// @dev The token behaves in another way from now on; it may call the pool during a transfer.
    function shift(uint256 seed) external {
        seed = _random(seed, salt);
        ShapeShifter shifter = ShapeShifter(address(token));
        shifter.become(ShapeShifter.Shape(seed % 7));
        if (calls.length != 0) shifter.arm(address(pool), calls[(seed >> 8) % calls.length]);
    }

    // =================================================================================================== PROPERTIES ==

    /// @notice Anyone can always append the next leaves: a filled queue is never stuck.
    function canAppend() external timed returns (string memory) {
        if (firstPending < groups.length) {
            bytes memory data = _append(_longest(), false);
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, ) = address(pool).call(data);
            if (!success) return "the next leaves cannot be appended";
        }
        return broken[4];
    }

    /// @notice The owner of any unspent note in the tree can take its whole value out, in this state of the pool.
    function canExit() external timed returns (string memory) {
        if (appended == 0) return broken[5];
        uint256 note = _random(leaves.length, time) % appended;
        for (uint256 i = 0; spentBy[_nullifier(note)] != 0; ++i) {
            if (i == appended) return broken[5];
            note = (note + 1) % appended;
        }
        if (!honestToken) ShapeShifter(address(token)).become(ShapeShifter.Shape.Honest);
        uint256[] memory signals = new uint256[](13);
        uint256[8] memory values;
        (signals[1], signals[2], signals[3]) = (amounts[note], root, _nullifier(note));
        values[0] = amounts[note];
        IShieldedPool.Withdrawal memory call;
        call.recipient = address(0xe417);
        call.validUntil = uint64(time);
        call = _proved(call, signals, values, 0, 0);
        // solhint-disable-next-line avoid-low-level-calls
        (bool success, ) = address(pool).call(abi.encodeCall(IShieldedPool.withdraw, (call)));
        if (!success) return "an owner cannot withdraw a note";
        if (token.balanceOf(address(0xe417)) != values[0]) return "an owner did not get the whole note";
        return broken[5];
    }

    // ====================================================================================================== HELPERS ==

    /// @dev Keeps the call, so that others can copy it. One call in eight is kept and not sent. Before each other call
    /// that is sent, somebody who saw it sends it with one changed word.
    function _send(address sender, bytes memory data, uint256 seed) private {
        if (calls.length < CALLS) calls.push(data);
        else calls[_count++ % CALLS] = data;
        uint256 what = (seed >> 200) % 8;
        if (what == 7) return;
        if (what < 4) {
            bytes memory changed = bytes.concat(data);
            _changeWord(changed, seed >> 204);
            // solhint-disable-next-line no-empty-blocks
            try this.frontRun(senders[(seed >> 192) % 4], changed) {} catch {}
        }
        _call(sender, data);
    }

    function frontRun(address sender, bytes calldata data) external {
        if (msg.sender != address(this)) revert Refused();
        _call(sender, data);
    }

    /// @dev Changes one word after the selector: another value, its neighbour, itself plus p, or one bit.
    function _changeWord(bytes memory data, uint256 random) internal pure {
        uint256 position = 36 + 32 * (random % ((data.length - 4) / 32));
        uint256 kind = (random >> 16) % 4;
        uint256 value;
        assembly ("memory-safe") {
            value := mload(add(data, position))
        }
        unchecked {
            if (kind == 0) value = uint256(keccak256(abi.encode(random)));
            else if (kind == 1) value = value + 1;
            else if (kind == 2) value = value + FIELD_MODULUS;
            else value = value ^ (1 << ((random >> 24) % 256));
        }
        assembly ("memory-safe") {
            mstore(add(data, position), value)
        }
    }

    /// @dev A note in the tree, spent or not, and a root that includes it. Reverts before the first append.
    function _note(uint256 random) private view returns (uint256 note, uint256 known) {
        if (appended == 0) revert Refused();
        note = random % appended;
        uint256 first = 0;
        while (roots[first].size <= note) ++first;
        known = roots[first + ((random >> 128) % (roots.length - first))].root;
    }

    /// @dev Some statements have expired when they are sent.
    function _deadline(uint256 random) private view returns (uint64) {
        return uint64(time + (random % 200) - 20);
    }

    function _nullifier(uint256 note) internal view returns (uint256) {
        return _field(keccak256(abi.encode("nullifier", note, leaves[note])));
    }

    function _random(uint256 seed, uint256 i) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, i)));
    }

    /// @dev A field element that is not 0.
    function _field(bytes32 value) internal pure returns (uint256) {
        return (uint256(value) % (FIELD_MODULUS - 1)) + 1;
    }
}
