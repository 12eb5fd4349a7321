// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {INoteHasher} from "../../../contracts/interfaces/INoteHasher.sol";
import {INoteTree} from "../../../contracts/interfaces/INoteTree.sol";
import {IShieldedPool} from "../../../contracts/interfaces/IShieldedPool.sol";
import {FIELD_MODULUS} from "../../../contracts/libraries/Bn254.sol";
import {PAYMENT_SIGNALS, WITHDRAWAL_SIGNALS} from "../../../contracts/libraries/CircuitConstants.sol";
import {vm, Vm} from "./Vm.sol";

interface IToken {
    function balanceOf(address account) external view returns (uint256);
}

/// @title What the pool must be after every call
/// @notice The model knows which statements an owner has proved and which deposits somebody asked for. After each call it
/// reads the pool's events, updates itself, and records in `broken` which property of docs/properties.md the call broke.
/// The properties that are about a state are functions that return a problem, or an empty text.
abstract contract PoolModel {
    /// @dev Maximum number of leaves in an append, and in a checkpoint.
    uint256 internal constant APPEND = 64;
    uint256 internal constant GROUP = 32;

    /// @dev The leaves of a checkpoint. The checkpoint's sequence is its index in `groups` plus 1.
    struct Group {
        uint256 count;
        uint256 leaves;
        uint256 time;
    }

    /// @dev When a leaf was queued: the number of appends before it, and of leaves that waited before it.
    struct Arrival {
        uint256 appendCount;
        uint256 waiting;
    }

    struct Payment {
        bool proved;
        uint64 validUntil;
        uint256[PAYMENT_SIGNALS] signals;
        uint256[3] amounts;
    }

    struct Withdrawal {
        bool proved;
        IShieldedPool.Withdrawal call;
        uint256[8] amounts;
        uint256 output;
    }

    struct Root {
        uint256 root;
        uint256 size;
    }

    IShieldedPool public pool;
    IToken public token;
    /// @dev Whether the token does what EIP-20 says.
    bool internal honestToken;

    /// @notice First problem of each property that a call broke.
    mapping(uint256 property => string) public broken;

    // What owners have proved and signed.
    mapping(bytes32 digest => Payment) internal payments;
    mapping(bytes32 digest => Withdrawal) internal withdrawals;
    /// @dev Hash of the leaves that a proof adds between two roots; the key has both, start index and count.
    mapping(bytes32 key => bytes32 leavesHash) internal appends;
    mapping(address from => mapping(bytes32 nonce => bool)) internal signedDeposits;

    // What the pool must have.
    uint256[] public leaves;
    uint256[] internal amounts;
    bytes32[] internal chains;
    Arrival[] private _arrivals;
    Group[] internal groups;
    bool internal groupOpen;
    /// @dev Index in `groups`.
    uint256 internal firstPending;
    uint256 public appended;
    /// @dev Number of leaves ever queued at the time of the last append.
    uint256 private _due;
    uint256 internal root;
    Root[] internal roots;
    mapping(uint256 root => bool) internal knownRoot;
    mapping(uint256 nullifier => bytes32 digest) internal spentBy;
    uint256[] internal spent;
    uint256 internal deposited;
    uint256 internal withdrawn;
    uint256 internal donated;
    /// @dev Value of all notes that were made and not spent, base units.
    uint256 internal unspent;
    address[] internal payees;
    mapping(address payee => uint256) internal owed;

    // What the current call asks for.
    uint256[] internal askedTags;
    uint64[] internal askedAmounts;
    uint256 private _nextAsked;
    uint256 private _settledBefore;

    uint256 internal time;
    uint256 internal number;

    /// @dev The pool rejected the call, so nothing may have happened.
    error Refused();

    // ======================================================================================================= CALLS ==

    function _fail(uint256 property, string memory what) internal {
        if (bytes(broken[property]).length == 0) broken[property] = what;
    }

    /// @dev Restores the chain's clock: the runner resets it between the calls of a sequence.
    modifier timed() {
        vm.warp(time);
        vm.roll(number);
        _;
    }

    /// @dev Calls the pool as `sender` and checks everything that the call did. Reverts if the pool does.
    function _call(address sender, bytes memory data) internal {
        uint256 balance = token.balanceOf(address(pool));
        (bool readable, uint8[] memory outcomes) = _expectedOutcomes(data);
        _readIntent(data);
        vm.recordLogs();
        vm.prank(sender);
        // solhint-disable-next-line avoid-low-level-calls
        (bool success, bytes memory result) = address(pool).call(data);
        if (!success) revert Refused();
        uint256 settled = _observe(vm.getRecordedLogs());
        bytes4 selector = bytes4(data);
        if (selector == IShieldedPool.settle.selector) {
            if (!readable) _fail(11, "settle accepted what cannot be decoded");
            _checkOutcomes(outcomes, abi.decode(result, (uint8[])), settled);
        }
        if (selector == IShieldedPool.settle.selector || selector == INoteTree.append.selector) {
            if (token.balanceOf(address(pool)) != balance) _fail(1, "a settle or append call moved tokens");
        }
        if (_nextAsked != askedTags.length) _fail(7, "a note that the depositor asked for was not made");
    }

    /// @dev Decodes the notes that a deposit asks for, from the calldata that is sent.
    function _readIntent(bytes memory data) private {
        delete askedTags;
        delete askedAmounts;
        _nextAsked = 0;
        bytes4 selector = bytes4(data);
        if (selector == IShieldedPool.deposit.selector) {
            try this.decodeDeposit(data) returns (uint256[] memory tags, uint64[] memory values) {
                askedTags = tags;
                askedAmounts = values;
            } catch {}
        } else if (selector == IShieldedPool.depositWithAuthorization.selector) {
            try this.decodeSigned(data) returns (
                address from,
                uint256[] memory tags,
                uint64[] memory values,
                bytes32 salt
            ) {
                bool signed = signedDeposits[from][keccak256(abi.encode(tags, values, salt))];
                if (signed || !honestToken) {
                    askedTags = tags;
                    askedAmounts = values;
                }
            } catch {}
        }
    }

    function decodeDeposit(bytes calldata data) external pure returns (uint256[] memory, uint64[] memory) {
        return abi.decode(data[4:], (uint256[], uint64[]));
    }

    function decodeSigned(
        bytes calldata data
    ) external pure returns (address from, uint256[] memory tags, uint64[] memory values, bytes32 salt) {
        (from, tags, values, salt) = abi.decode(data[4:], (address, uint256[], uint64[], bytes32));
    }

    function decodeSettle(bytes calldata data) external pure returns (IShieldedPool.Payment[] memory) {
        return abi.decode(data[4:], (IShieldedPool.Payment[]));
    }

    // ==================================================================================================== OUTCOMES ==

    /// @dev The outcomes that a settle call must report, from the model alone.
    function _expectedOutcomes(bytes memory data) private view returns (bool readable, uint8[] memory outcomes) {
        if (bytes4(data) != IShieldedPool.settle.selector) return (false, outcomes);
        try this.decodeSettle(data) returns (IShieldedPool.Payment[] memory calls) {
            outcomes = new uint8[](calls.length);
            for (uint256 i = 0; i < calls.length; ++i) {
                uint256[PAYMENT_SIGNALS] memory signals = calls[i].signals;
                bool spentBefore = spentBy[signals[6] % FIELD_MODULUS] != 0;
                for (uint256 j = 0; j < i; ++j) {
                    spentBefore = spentBefore || (outcomes[j] == 0 && calls[j].signals[6] == signals[6]);
                }
                if (spentBefore) outcomes[i] = 1;
                else if (time > calls[i].validUntil) outcomes[i] = 2;
                else if (!knownRoot[signals[5]]) outcomes[i] = 3;
            }
            return (true, outcomes);
        } catch {}
    }

    function _checkOutcomes(uint8[] memory expected, uint8[] memory actual, uint256 settled) private {
        uint256 count = 0;
        if (expected.length != actual.length) return _fail(11, "a payment has no outcome");
        for (uint256 i = 0; i < actual.length; ++i) {
            if (actual[i] == 0) ++count;
            if (expected[i] != actual[i]) _fail(11, "an outcome is not the true one");
        }
        if (count != settled) _fail(11, "more or fewer payments were settled than reported");
    }

    // ====================================================================================================== EVENTS ==

    function _observe(Vm.Log[] memory logs) private returns (uint256 settled) {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(pool)) continue;
            bytes32 topic = logs[i].topics[0];
            if (topic == IShieldedPool.Deposited.selector) {
                _deposited(uint256(logs[i].topics[1]), logs[i].data);
            } else if (topic == IShieldedPool.Settled.selector) {
                ++settled;
                _settled(uint256(logs[i].topics[1]), logs[i].data);
            } else if (topic == IShieldedPool.Withdrawn.selector) {
                _withdrawn(address(uint160(uint256(logs[i].topics[1]))), logs[i].data);
            } else if (topic == INoteTree.Appended.selector) {
                _appended(uint256(logs[i].topics[1]), logs[i].data);
            }
        }
    }

    function _deposited(uint256 tag, bytes memory data) private {
        (uint256 amount, uint256 commitment, uint256 index) = abi.decode(data, (uint256, uint256, uint256));
        uint256 next = _nextAsked++;
        if (next >= askedTags.length || askedTags[next] != tag || askedAmounts[next] != amount)
            _fail(7, "a deposited note is not the one that was asked for");
        uint256 blinding = uint256(keccak256(abi.encode(block.chainid, address(pool), leaves.length))) % FIELD_MODULUS;
        uint256 expected = INoteHasher(pool.noteHasher()).hash([amount, tag, blinding]);
        if (expected != commitment) _fail(7, "a deposited note has another owner, amount or blinding");
        if (index != leaves.length) _fail(12, "a Deposited event names another leaf");
        if (tag == 0 || tag >= FIELD_MODULUS) _fail(7, "a note was made for an owner that cannot exist");
        deposited += amount;
        _made(expected, amount);
    }

    function _settled(uint256 nullifier, bytes memory data) private {
        (bytes32 digest, uint256[7] memory shown) = abi.decode(data, (bytes32, uint256[7]));
        Payment storage payment = payments[digest];
        if (!payment.proved) return _fail(10, "a payment was settled that nobody proved");
        uint256[PAYMENT_SIGNALS] storage signals = payment.signals;
        if (time > payment.validUntil) _fail(9, "a payment was settled after its deadline");
        if (!knownRoot[signals[5]]) _fail(8, "a payment was settled on a root that the tree never had");
        bool same = nullifier == signals[6] && shown[0] == signals[2] && shown[1] == signals[3];
        same = same && shown[2] == signals[4] && shown[3] == signals[9];
        same = same && shown[4] == signals[7] && shown[5] == signals[8] && shown[6] == leaves.length;
        if (!same) _fail(12, "a Settled event differs from the payment");
        _spend(signals[6], digest, payment.amounts[0]);
        _made(signals[7], payment.amounts[1]);
        _made(signals[8], payment.amounts[2]);
    }

    function _withdrawn(address recipient, bytes memory data) private {
        bytes32 digest = abi.decode(data, (bytes32));
        Withdrawal storage proved = withdrawals[digest];
        if (!proved.proved) return _fail(10, "a withdrawal was executed that nobody proved");
        IShieldedPool.Withdrawal memory call = proved.call;
        uint256[WITHDRAWAL_SIGNALS] memory signals = call.signals;
        if (time > call.validUntil) _fail(9, "a withdrawal was executed after its deadline");
        if (!knownRoot[signals[2]]) _fail(8, "a withdrawal was executed on a root that the tree never had");
        uint256[8] memory nullifiers;
        for (uint256 i = 0; i < 8; ++i) nullifiers[i] = signals[3 + i];
        bool queued = signals[12] != 0;
        bytes memory expected = bytes.concat(
            abi.encode(digest, nullifiers, signals[1], call.fee, call.feeRecipient, call.validUntil, signals[12]),
            abi.encode(queued ? signals[11] : 0, queued ? leaves.length : 0)
        );
        // Which recipient is paid is property 6; what the other fields say is property 12.
        if (recipient != call.recipient) _fail(6, "a withdrawal paid somebody else");
        else if (keccak256(expected) != keccak256(data)) _fail(12, "a Withdrawn event differs from the withdrawal");
        for (uint256 i = 0; i < 8; ++i) {
            if (nullifiers[i] != 0) _spend(nullifiers[i], digest, proved.amounts[i]);
        }
        if (queued) _made(signals[11], proved.output);
        withdrawn += signals[1];
        _owe(call.recipient, signals[1] - call.fee);
        _owe(call.feeRecipient, call.fee);
    }

    function _appended(uint256 newRoot, bytes memory data) private {
        (uint256 start, uint256 count) = abi.decode(data, (uint256, uint256));
        if (start != appended || count == 0 || start + count > leaves.length)
            return _fail(3, "an append does not continue the tree");
        uint256[] memory moved = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) moved[i] = leaves[start + i];
        bytes32 proved = appends[keccak256(abi.encode(root, newRoot, start, count))];
        if (proved == 0) _fail(10, "an append was executed that nobody proved");
        else if (proved != keccak256(abi.encode(moved))) _fail(3, "the tree got other leaves than the queue had");
        uint256 end = firstPending;
        while (end < groups.length && groups[end].count < start + count) ++end;
        if (end == groups.length || groups[end].count != start + count)
            return _fail(3, "an append splits a checkpoint");
        if (count < _shortest()) _fail(4, "an append left old leaves behind that fit");
        for (uint256 i = start + count; i < leaves.length; ++i) {
            // Number of appends, with this one, that did not include the leaf.
            uint256 missed = roots.length + 1 - _arrivals[i].appendCount;
            if (missed >= 2 + _arrivals[i].waiting / (GROUP + 1)) _fail(4, "a leaf waits for too many appends");
        }
        appended = start + count;
        _due = leaves.length;
        firstPending = end + 1;
        if (firstPending == groups.length) groupOpen = false;
        root = newRoot;
        knownRoot[newRoot] = true;
        roots.push(Root(newRoot, appended));
    }

    function _spend(uint256 nullifier, bytes32 digest, uint256 amount) private {
        uint256 canonical = nullifier % FIELD_MODULUS;
        if (spentBy[canonical] != 0) return _fail(2, "a nullifier was spent twice");
        spentBy[canonical] = digest;
        spent.push(canonical);
        unspent -= amount;
    }

    function _made(uint256 commitment, uint256 amount) private {
        if (commitment == 0 || commitment >= FIELD_MODULUS) _fail(3, "a leaf is not a field element, or 0");
        bytes32 chain = leaves.length == 0 ? bytes32(0) : chains[leaves.length - 1];
        _arrivals.push(Arrival(roots.length, leaves.length - appended));
        leaves.push(commitment);
        amounts.push(amount);
        chains.push(keccak256(abi.encode(chain, commitment)));
        unspent += amount;
        if (!groupOpen || groups[groups.length - 1].time != time || groups[groups.length - 1].leaves == GROUP) {
            groups.push(Group(leaves.length - 1, 0, time));
            groupOpen = true;
        }
        Group storage group = groups[groups.length - 1];
        ++group.leaves;
        group.count = leaves.length;
    }

    function _owe(address payee, uint256 amount) private {
        if (amount == 0) return;
        if (owed[payee] == 0) payees.push(payee);
        owed[payee] += amount;
    }

    // ================================================================================================= CHECKPOINTS ==

    /// @dev Minimum number of leaves in an append: those that were queued when the last append landed, or 33.
    function _shortest() internal view returns (uint256) {
        uint256 late = _due - appended;
        return late > GROUP ? GROUP + 1 : late;
    }

    function _chainAt(uint256 count) internal view returns (bytes32) {
        return count == 0 ? bytes32(0) : chains[count - 1];
    }

    /// @dev Number of pending checkpoints that fit into one append.
    function _longest() internal view returns (uint256 count) {
        for (uint256 i = firstPending; i < groups.length && groups[i].count <= appended + APPEND; ++i) ++count;
    }

    // ================================================================================================== PROPERTIES ==

    function solvency() external view returns (string memory) {
        uint256 balance = token.balanceOf(address(pool));
        uint256 expected = deposited + donated - withdrawn;
        if (balance < unspent + donated) return "the pool holds less than the unspent notes";
        if (honestToken && balance != expected) return "the balance is not deposits minus withdrawals";
        return broken[1];
    }

    function spentMarks() external view returns (string memory) {
        for (uint256 i = 0; i < spent.length; ++i) {
            if (pool.spentBy(spent[i]) != spentBy[spent[i]] || !pool.isSpent(spent[i])) return "a spent mark changed";
        }
        return broken[2];
    }

    function order() external view returns (string memory) {
        INoteTree.QueueState memory state = pool.queue();
        if (state.size != leaves.length) return "the number of leaves differs";
        if (state.newest != groups.length || state.lastAppended != firstPending) return "the checkpoints differ";
        for (uint256 i = firstPending; i < groups.length; ++i) {
            if (pool.checkpoint(i + 1) != _chainAt(groups[i].count))
                return "a queued leaf was lost, changed or reordered";
        }
        bytes32 chain = pool.checkpoint(state.lastAppended);
        if (state.appended != appended || chain != _chainAt(appended)) return "the tree has other leaves";
        if (state.due != _due) return "the leaves that the next append must reach differ";
        return broken[3];
    }

    function rootHistory() external view returns (string memory) {
        if (appended != 0 && pool.root() != root) return "the root is not the last append's";
        if (pool.isKnownRoot(0) || pool.isKnownRoot(uint256(keccak256("no root")))) return "a made-up root is known";
        for (uint256 i = 0; i < roots.length; ++i) {
            if (!pool.isKnownRoot(roots[i].root)) return "a root was forgotten";
        }
        return broken[8];
    }

    function payouts() external view returns (string memory) {
        for (uint256 i = 0; honestToken && i < payees.length; ++i) {
            if (token.balanceOf(payees[i]) != owed[payees[i]]) return "somebody was paid an amount that was not proved";
        }
        return broken[6];
    }
}
