// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title Whether a contract wallet accepts a signature, deployed (EIP-1271) or not yet (EIP-6492)
/// @notice It is never deployed. A client runs its creation code by eth_call: whatever happens, the "code" it returns is
/// one word, 1 for accepted and 0 for not. Nothing that it does outlives the call.
contract SignatureValidator {
    /// @dev A wallet that burns what it gets must neither use up the call nor hold the node. Checks in Solidity of
    /// curves that have no precompile take some 400,000.
    uint256 private constant CHECK_GAS = 5_000_000;
    uint256 private constant DEPLOY_GAS = 10_000_000;

    /// @param wallet who is said to have signed
    /// @param factory makes the wallet where it is not deployed yet; the zero address for none
    /// @param factoryCall what the factory is called with
    constructor(address wallet, bytes32 digest, bytes memory signature, address factory, bytes memory factoryCall) {
        // A wallet that is there already answers by itself: nothing is called before it.
        if (wallet.code.length == 0 && factory != address(0)) _deploy(factory, factoryCall);
        bool accepted = _accepts(wallet, digest, signature);
        assembly ("memory-safe") {
            mstore(0, accepted)
            return(0, 32)
        }
    }

    function _deploy(address factory, bytes memory factoryCall) private {
        uint256 limit = DEPLOY_GAS;
        assembly ("memory-safe") {
            // No return data is copied: the factory could return any amount of it. Whether there is a wallet now shows.
            pop(call(limit, factory, 0, add(factoryCall, 32), mload(factoryCall), 0, 0))
        }
    }

    function _accepts(address wallet, bytes32 digest, bytes memory signature) private view returns (bool accepted) {
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        // The answer is the selector, in a word that holds nothing else.
        bytes32 magic = bytes32(IERC1271.isValidSignature.selector);
        uint256 limit = CHECK_GAS;
        assembly ("memory-safe") {
            mstore(0, 0)
            let done := staticcall(limit, wallet, add(question, 32), mload(question), 0, 32)
            // An account without code succeeds and returns nothing.
            accepted := and(and(done, gt(returndatasize(), 31)), eq(mload(0), magic))
        }
    }
}
