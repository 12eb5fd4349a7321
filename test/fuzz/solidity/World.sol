// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IShieldedPool} from "../../../contracts/interfaces/IShieldedPool.sol";
import {TestUSDC} from "../../../contracts/test/TestUSDC.sol";
import {Fixture, readFixture, Trapdoor} from "./Fixture.sol";
import {IToken} from "./PoolModel.sol";
import {RecordedCalls} from "./RecordedCalls.sol";
import {ShapeShifter} from "./ShapeShifter.sol";
import {vm} from "./Vm.sol";

/// @title A pool with real verifiers, its token, and everybody who calls it
abstract contract World is RecordedCalls {
    uint64 private constant SMALLEST_DEPOSIT = 10_000;

    /// @param artifact the pool's contract
    /// @param ringSize number of slots in the ring of checkpoints; 0: the contract has no such setting
    /// @param honest whether the token is the test dollar; otherwise it changes how it behaves
    constructor(string memory artifact, uint256 ringSize, bool honest) {
        Fixture memory fixture = readFixture();
        honestToken = honest;
        token = IToken(honest ? address(new TestUSDC()) : address(new ShapeShifter()));
        time = fixture.start;
        number = 100;
        vm.warp(time);
        bytes memory settings = abi.encode(
            address(token),
            _create("project/contracts/verifiers/PaymentVerifier.sol:PaymentVerifier"),
            _create("project/contracts/verifiers/WithdrawalVerifier.sol:WithdrawalVerifier"),
            _create("project/contracts/verifiers/NoteAppendVerifier.sol:NoteAppendVerifier"),
            _create("npm/poseidon-solidity@0.0.5/PoseidonT4.sol:PoseidonT4"),
            SMALLEST_DEPOSIT
        );
        if (ringSize != 0) settings = bytes.concat(abi.encode(ringSize), settings);
        _createAt(fixture.pool, bytes.concat(vm.getCode(artifact), settings));
        pool = IShieldedPool(fixture.pool);
        _setTrapdoor(paymentKey, fixture.trapdoors[0]);
        _setTrapdoor(withdrawalKey, fixture.trapdoors[1]);
        _setTrapdoor(appendKey, fixture.trapdoors[2]);
        _load(fixture);
        for (uint256 i = 0; i < senders.length; ++i) _fund(senders[i]);
        if (honest) TestUSDC(address(token)).mint(vm.addr(DEPOSITOR_KEY), 1 << 60);
    }

    function setSalt(uint256 value) external {
        salt = value;
    }

    /// @dev Deposits and appends three notes.
    function begin() external {
        uint256[] memory tags = new uint256[](3);
        uint64[] memory values = new uint64[](3);
        for (uint256 i = 0; i < 3; ++i) (tags[i], values[i]) = (i + 1, uint64(1_000_000 * (i + 1)));
        vm.warp(time);
        vm.roll(number);
        _call(senders[0], abi.encodeCall(IShieldedPool.deposit, (tags, values)));
        _call(senders[0], _append(1, false));
    }

    /// @dev Marks a seeded bug as active (support/seeded-bugs.ts).
    function seedBug(uint256 bug) external {
        vm.store(address(pool), keccak256("seeded bug"), bytes32(bug));
    }

    /// @notice Makes every recorded step in order, and then every conflict.
    /// @return executed number of steps that the pool executed
    function replayAll() external timed returns (uint256 executed) {
        uint256 conflicts = 0;
        for (uint256 i = 0; i < steps.length; ++i) {
            if (steps[i].conflict) ++conflicts;
            else this.next(i);
        }
        return steps.length - conflicts;
    }

    function _fund(address account) private {
        TestUSDC(address(token)).mint(account, 1 << 60);
        vm.prank(account);
        TestUSDC(address(token)).approve(address(pool), 1 << 60);
    }

    function _setTrapdoor(Trapdoor storage self, Trapdoor memory value) private {
        self.base = value.base;
        self.factors = value.factors;
    }

    function _create(string memory artifact) private returns (address account) {
        bytes memory code = vm.getCode(artifact);
        assembly ("memory-safe") {
            account := create(0, add(code, 0x20), mload(code))
        }
        require(account != address(0), artifact);
    }

    /// @dev Runs the constructor at a chosen address, because the recorded proofs are bound to it.
    function _createAt(address account, bytes memory creation) private {
        vm.etch(account, creation);
        // solhint-disable-next-line avoid-low-level-calls
        (bool success, bytes memory code) = account.call("");
        require(success, "the pool's constructor reverted");
        vm.etch(account, code);
    }
}
