// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC3009} from "@openzeppelin/contracts/interfaces/draft-IERC3009.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {INoteHasher} from "../interfaces/INoteHasher.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {FIELD_MODULUS} from "../libraries/Field.sol";
import {NoteQueue} from "../libraries/NoteQueue.sol";
import {PoolContext} from "../libraries/PoolContext.sol";
import {PoolState} from "./PoolState.sol";

/// @title Tokens in, notes out
/// @notice The only place where the chain hashes with Poseidon: a deposit is public, so nobody has to prove it.
abstract contract PoolDeposits is PoolState, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev Known answer: another hash would make notes that nobody can spend.
    uint256 private constant _HASH_OF_1_2_3 =
        6542985608222806190361240322586112750744169038454362455181422643027100751666;

    INoteHasher private immutable _NOTE_HASHER;
    uint64 private immutable _SMALLEST_DEPOSIT;

    constructor(address noteHasher_, uint64 smallestDeposit_) {
        _requireCode(noteHasher_);
        if (INoteHasher(noteHasher_).hash([uint256(1), 2, 3]) != _HASH_OF_1_2_3) revert InvalidConfiguration();
        if (smallestDeposit_ == 0) revert InvalidConfiguration();
        _NOTE_HASHER = INoteHasher(noteHasher_);
        _SMALLEST_DEPOSIT = smallestDeposit_;
    }

    /// @inheritdoc IShieldedPool
    function deposit(uint256[] calldata ownerTags, uint64[] calldata amounts) external nonReentrant {
        uint256 total = _checkDeposit(ownerTags, amounts);
        uint256 balance = IERC20(_TOKEN).balanceOf(address(this));
        IERC20(_TOKEN).safeTransferFrom(msg.sender, address(this), total);
        _requireReceived(balance, total);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function depositWithAuthorization(
        address from,
        uint256[] calldata ownerTags,
        uint64[] calldata amounts,
        bytes32 salt,
        uint256 validAfter,
        uint256 validBefore,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external nonReentrant {
        uint256 total = _checkDeposit(ownerTags, amounts);
        uint256 balance = IERC20(_TOKEN).balanceOf(address(this));
        // The authorization covers the amount, not whose notes it becomes: its nonce has to.
        IERC3009(_TOKEN).receiveWithAuthorization(
            from,
            address(this),
            total,
            validAfter,
            validBefore,
            keccak256(abi.encode(ownerTags, amounts, salt)),
            v,
            r,
            s
        );
        _requireReceived(balance, total);
        _pushDeposit(ownerTags, amounts);
    }

    /// @inheritdoc IShieldedPool
    function smallestDeposit() external view returns (uint64) {
        return _SMALLEST_DEPOSIT;
    }

    /// @inheritdoc IShieldedPool
    function noteHasher() external view returns (address) {
        return address(_NOTE_HASHER);
    }

    /// @dev Everything a deposit is refused for; returns the sum of its amounts.
    function _checkDeposit(
        uint256[] calldata ownerTags,
        uint64[] calldata amounts
    ) private view returns (uint256 total) {
        uint256 count = ownerTags.length;
        if (count == 0 || count != amounts.length) revert InvalidNoteCount(count, amounts.length);
        for (uint256 i = 0; i < count; ++i) {
            uint256 tag = ownerTags[i];
            if (tag == 0 || tag >= FIELD_MODULUS) revert InvalidOwnerTag(tag);
            if (amounts[i] < _SMALLEST_DEPOSIT) revert AmountTooSmall(amounts[i], _SMALLEST_DEPOSIT);
            total += amounts[i];
        }
    }

    function _requireReceived(uint256 balanceBefore, uint256 total) private view {
        uint256 received = IERC20(_TOKEN).balanceOf(address(this)) - balanceBefore;
        if (received != total) revert WrongAmountReceived(total, received);
    }

    function _pushDeposit(uint256[] calldata ownerTags, uint64[] calldata amounts) private {
        NoteQueue.Cursor memory cursor = _beginPush(ownerTags.length);
        for (uint256 i = 0; i < ownerTags.length; ++i) {
            uint256 index = cursor.state.size;
            uint256 commitment = _NOTE_HASHER.hash([amounts[i], ownerTags[i], PoolContext.depositBlinding(index)]);
            _push(cursor, commitment);
            emit Deposited(ownerTags[i], amounts[i], commitment, index);
        }
        _commitPush(cursor);
    }
}
