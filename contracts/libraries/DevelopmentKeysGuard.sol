// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title Refuses development keys where there is money
/// @notice The secrets of the development keys are public: whoever knows them spends every note. Verifiers exported from
/// them inherit this, so no script and no hand can put them on a chain that is not local.
abstract contract DevelopmentKeysGuard {
    /// @notice Development keys on a chain that is not local.
    error DevelopmentKeysRefused(uint256 chainId);

    constructor() {
        // The chain ids of local test chains: Hardhat and Anvil's, and Ganache's.
        if (block.chainid != 31337 && block.chainid != 1337) revert DevelopmentKeysRefused(block.chainid);
    }
}
