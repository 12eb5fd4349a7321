// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {INoteAppendVerifier} from "../interfaces/IVerifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {NoteTree} from "../NoteTree.sol";

/// @title What the pool's parts share: the tree, the spent notes, the token
abstract contract PoolState is IShieldedPool, NoteTree {
    address internal immutable _TOKEN;

    /// @dev keccak256 of the public signals that spent the note: as dear as a flag, and a payment can be told from
    /// another with the same nullifier.
    mapping(uint256 nullifier => bytes32 digest) private _spent;

    constructor(address token_, address noteAppendVerifier_) NoteTree(INoteAppendVerifier(noteAppendVerifier_)) {
        _requireCode(token_);
        _requireCode(noteAppendVerifier_);
        _TOKEN = token_;
        // As for payments: the verifier of this circuit, and one that refuses.
        uint256[8] memory proof;
        uint256[6] memory signals;
        if (INoteAppendVerifier(noteAppendVerifier_).verifyProof(proof, signals)) revert InvalidConfiguration();
        uint256[28] memory key = INoteAppendVerifier(noteAppendVerifier_).verificationKey();
        _requireDelta(key[6], key[7], key[10], key[11]);
    }

    /// @inheritdoc IShieldedPool
    function isSpent(uint256 nullifier) public view returns (bool) {
        return _spent[nullifier] != 0;
    }

    /// @inheritdoc IShieldedPool
    function spentBy(uint256 nullifier) external view returns (bytes32 digest) {
        return _spent[nullifier];
    }

    /// @inheritdoc IShieldedPool
    function token() external view returns (address) {
        return _TOKEN;
    }

    /// @dev The nullifier must be known to be unspent.
    function _spend(uint256 nullifier, bytes32 digest) internal {
        _spent[nullifier] = digest;
    }

    /// @dev Refuses a verification key whose delta is gamma or its negative: anybody can forge proofs for it. A key has
    /// them equal until its circuit's first contribution. The words are those of the two points' x, which a point shares
    /// with its negative.
    function _requireDelta(uint256 gammaX1, uint256 gammaX0, uint256 deltaX1, uint256 deltaX0) internal pure {
        if (gammaX1 == deltaX1 && gammaX0 == deltaX0) revert InvalidConfiguration();
    }

    function _requireCode(address contract_) internal view {
        if (contract_.code.length == 0) revert InvalidConfiguration();
    }
}
