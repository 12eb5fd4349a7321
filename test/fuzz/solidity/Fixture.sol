// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IShieldedPool} from "../../../contracts/interfaces/IShieldedPool.sol";
import {vm} from "./Vm.sol";

/// @dev A recorded deposit.
struct DepositStep {
    uint256[] ownerTags;
    uint64[] amounts;
}

/// @dev A payment that its payer has proved. `amounts`: base units of the spent note, the recipient's note, the change.
struct PaymentStep {
    IShieldedPool.Payment call;
    uint256[3] amounts;
}

/// @dev A withdrawal that its owner has proved. `amounts`: base units of the spent notes.
struct WithdrawalStep {
    IShieldedPool.Withdrawal call;
    uint256[8] amounts;
    uint256 output;
}

/// @dev A proved append; the number of its checkpoint depends on when its leaves were queued.
struct AppendStep {
    uint256 oldRoot;
    uint256 newRoot;
    uint256 startIndex;
    uint256[] leaves;
    uint256[8] proof;
}

enum Kind {
    Deposit,
    Payment,
    Withdrawal,
    Append
}

/// @dev A step of the recorded order; `index` counts the steps of its kind.
struct Step {
    Kind kind;
    uint256 index;
    bool conflict;
}

/// @dev The trapdoor of a development key, prepared for Forger: C = (base - sum of factors[i] signals[i]) G1.
struct Trapdoor {
    uint256 base;
    uint256[] factors;
}

/// @dev Everything that the tests read from the file that support/fixture.ts writes.
struct Fixture {
    address pool;
    uint256 start;
    Step[] steps;
    DepositStep[] deposits;
    PaymentStep[] payments;
    WithdrawalStep[] withdrawals;
    AppendStep[] appends;
    Trapdoor[3] trapdoors;
}

function readFixture() view returns (Fixture memory) {
    string memory path = string.concat(vm.projectRoot(), "/test/fuzz/.fuzz/fixture.bin");
    return abi.decode(vm.readFileBinary(path), (Fixture));
}
