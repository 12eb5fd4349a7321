// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {RehearsalKeysGuard} from "../libraries/RehearsalKeysGuard.sol";

/// @title A contract with the guard that verifiers of a rehearsal's keys have
/// @notice The tree has no such verifier: `npm run rehearsal` exports them into a copy of the tree.
contract RehearsedContract is RehearsalKeysGuard {
    /// @notice The id of the chain that it was deployed on.
    uint256 public immutable DEPLOYED_ON = block.chainid;
}
