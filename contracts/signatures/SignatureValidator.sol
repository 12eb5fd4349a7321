// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title Asks a contract wallet whether it accepts a signature, before (EIP-6492) or after (EIP-1271) its deployment
/// @notice This contract is never deployed. A client runs its creation code with eth_call. The "code" that the constructor
/// returns is always one word: 1 if the wallet accepts the signature, 0 if not. The call leaves no trace on chain.
contract SignatureValidator {
    /// @dev Gas limit of the wallet's check. A malicious wallet must not consume the gas of the whole call or keep the node
    /// busy. A signature check in Solidity, on a curve without a precompile, takes about 400,000.
    uint256 private constant CHECK_GAS = 5_000_000;
    /// @dev Gas limit of the factory's call.
    uint256 private constant DEPLOY_GAS = 10_000_000;

    /// @param wallet the wallet that is said to have signed
    /// @param digest the hash that was signed
    /// @param signature the signature, in the wallet's own format
    /// @param factory contract that deploys the wallet if it is not deployed; the zero address if there is none
    /// @param factoryCall calldata for the factory
    constructor(address wallet, bytes32 digest, bytes memory signature, address factory, bytes memory factoryCall) {
        // A deployed wallet answers by itself, so the factory is not called for it.
        if (wallet.code.length == 0 && factory != address(0)) _deploy(factory, factoryCall);
        bool accepted = _accepts(wallet, digest, signature);
        assembly ("memory-safe") {
            mstore(0, accepted)
            return(0, 32)
        }
    }

    /// @dev Calls the factory with limited gas.
    function _deploy(address factory, bytes memory factoryCall) private {
        uint256 limit = DEPLOY_GAS;
        assembly ("memory-safe") {
            // No return data is copied, because the factory could return any amount of it. Its result does not matter:
            // _accepts returns false for a wallet that is still not deployed.
            pop(call(limit, factory, 0, add(factoryCall, 32), mload(factoryCall), 0, 0))
        }
    }

    /// @dev Calls isValidSignature of the wallet with limited gas.
    function _accepts(address wallet, bytes32 digest, bytes memory signature) private view returns (bool accepted) {
        bytes memory request = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        // A wallet that accepts returns the selector, padded with zeros to one word.
        bytes32 magic = bytes32(IERC1271.isValidSignature.selector);
        uint256 limit = CHECK_GAS;
        assembly ("memory-safe") {
            mstore(0, 0)
            let done := staticcall(limit, wallet, add(request, 32), mload(request), 0, 32)
            // A call to an account without code succeeds and returns nothing.
            accepted := and(and(done, gt(returndatasize(), 31)), eq(mload(0), magic))
        }
    }
}
