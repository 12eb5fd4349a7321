// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Keeps the keys of rehearsed ceremonies off real chains
/// @notice The secrets of a rehearsal's keys are public, and anyone who knows them can spend every note. Verifiers exported
/// from these keys inherit this contract, so they can be deployed only on local chains and on the chain for rehearsals.
abstract contract RehearsalKeysGuard {
    /// @notice A verifier of a rehearsal's keys was to be deployed on another chain.
    /// @param chainId id of that chain
    error RehearsalKeysRefused(uint256 chainId);

    constructor() {
        // Hardhat and Anvil; Ganache and Geth's dev mode; "sotto" in ASCII, the id of the chain of `npm run rehearsal`.
        if (block.chainid != 31337 && block.chainid != 1337 && block.chainid != 0x736f74746f) {
            revert RehearsalKeysRefused(block.chainid);
        }
    }
}
