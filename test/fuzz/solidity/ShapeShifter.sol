// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title A token that changes how it behaves
/// @notice The fuzzer chooses the behaviour, and anyone may mint. Amounts are honest in the sense that no transfer takes more
/// from an account than its amount, because no pool can protect its users from a token that does.
contract ShapeShifter {
    enum Shape {
        Honest,
        ReturnsNothing,
        ReturnsFalse,
        MovesNothing,
        TakesFee,
        CallsBack,
        Reverts
    }

    Shape public shape;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public blocked;
    address private _target;
    bytes private _data;

    function become(Shape next) external {
        shape = next;
    }

    /// @notice Makes each transfer call `target` with `data` while the shape is CallsBack.
    function arm(address target, bytes calldata data) external {
        _target = target;
        _data = data;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
        totalSupply += amount;
    }

    function setBlocked(address account, bool value) external {
        blocked[account] = value;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    /// @dev Ends the call: some shapes return a word, one returns nothing.
    function _move(address from, address to, uint256 amount) private {
        Shape current = shape;
        require(current != Shape.Reverts && !blocked[from] && !blocked[to], "refused");
        if (current == Shape.CallsBack && _target != address(0)) {
            // The result does not matter: the token only tries.
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, ) = _target.call(_data);
            success;
        }
        if (current != Shape.MovesNothing && current != Shape.ReturnsFalse) {
            balanceOf[from] -= amount;
            uint256 fee = current == Shape.TakesFee ? amount / 100 + 1 : 0;
            if (fee > amount) fee = amount;
            balanceOf[to] += amount - fee;
            totalSupply -= fee;
        }
        if (current == Shape.ReturnsNothing) {
            assembly {
                return(0, 0)
            }
        }
        assembly {
            mstore(0, iszero(eq(current, 2)))
            return(0, 32)
        }
    }
}
