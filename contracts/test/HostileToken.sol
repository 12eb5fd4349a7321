// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that calls back in the middle of every transfer, keeps a fee, or lies
contract HostileToken is ERC20 {
    address private _target;
    bytes private _data;
    uint256 private _fee;
    bool private _silent;

    /// @notice What the call in the middle of a transfer returned.
    event CalledBack(bool success, bytes result);

    constructor() ERC20("Hostile", "HOST") {}

    /// @notice New units for anyone.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice Call `target` with `data` once, in the next transfer.
    function arm(address target, bytes calldata data) external {
        _target = target;
        _data = data;
    }

    /// @notice Take `fee` of every transfer.
    function setFee(uint256 fee) external {
        _fee = fee;
    }

    /// @notice Say yes to transfers and move nothing.
    function setSilent(bool silent) external {
        _silent = silent;
    }

    /// @dev EIP-3009 without any check: the pool must not rely on the token for more than the transfer.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        uint8,
        bytes32,
        bytes32
    ) external {
        _transfer(from, to, value);
    }

    function _update(address from, address to, uint256 value) internal override {
        address target = _target;
        if (target != address(0)) {
            _target = address(0);
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, bytes memory result) = target.call(_data);
            emit CalledBack(success, result);
        }
        if (_silent) return;
        super._update(from, to, value);
        if (_fee != 0 && from != address(0) && to != address(0)) super._update(to, address(0), _fee);
    }
}
