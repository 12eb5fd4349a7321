// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Keeps development keys off public chains
/// @notice The secrets of the development keys are public, and anyone who knows them can spend every note. Verifiers
/// exported from these keys inherit this contract, so they cannot be deployed on a chain that is not local.
abstract contract DevelopmentKeysGuard {
    /// @notice A verifier of development keys was to be deployed on a chain that is not local.
    /// @param chainId id of that chain
    error DevelopmentKeysRefused(uint256 chainId);

    constructor() {
        // Chain ids of local test chains: Hardhat and Anvil use 31337, Ganache and Geth's dev mode use 1337.
        if (block.chainid != 31337 && block.chainid != 1337) revert DevelopmentKeysRefused(block.chainid);
    }
}
