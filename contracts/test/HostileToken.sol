// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that can call back during a transfer, charge a fee, or report success without a transfer
contract HostileToken is ERC20 {
    address private _target;
    bytes private _data;
    uint256 private _fee;
    bool private _silent;

    /// @notice Result of the call that was made during a transfer.
    /// @param success whether it succeeded
    /// @param result its return data
    event CalledBack(bool success, bytes result);

    constructor() ERC20("Hostile", "HOST") {}

    /// @notice Creates units; anyone may call it.
    /// @param to account that receives them
    /// @param amount base units
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice Makes the next transfer call `target` with `data`, once.
    /// @param target contract to call
    /// @param data calldata
    function arm(address target, bytes calldata data) external {
        _target = target;
        _data = data;
    }

    /// @notice Makes every transfer burn a fee from what the recipient received.
    /// @param fee base units
    function setFee(uint256 fee) external {
        _fee = fee;
    }

    /// @notice Makes transfers report success without moving anything.
    /// @param silent true to do so
    function setSilent(bool silent) external {
        _silent = silent;
    }

    /// @notice EIP-3009 without any check: the pool must rely on the token for the transfer only.
    /// @param from account that pays
    /// @param to account that receives
    /// @param value base units
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
