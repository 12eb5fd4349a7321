// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title Refuses development keys where there is money
/// @notice The secrets of the development keys are public: whoever knows them spends every note. A deployment whose keys
/// are marked `development` creates this contract before anything else, so the chain itself, not a script that could be
/// bypassed, ends it.
contract DevelopmentKeysGuard {
    /// @notice Development keys on a chain that is not local.
    error DevelopmentKeysRefused(uint256 chainId);

    constructor() {
        if (!isLocal(block.chainid)) revert DevelopmentKeysRefused(block.chainid);
    }

    /// @notice Whether a chain id is one of those that local test chains use: Hardhat and Anvil's, and Ganache's.
    /// @param chainId EIP-155 chain id
    function isLocal(uint256 chainId) public pure returns (bool) {
        return chainId == 31337 || chainId == 1337;
    }
}
