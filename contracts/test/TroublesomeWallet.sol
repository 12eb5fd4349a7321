// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title A wallet that answers a signature check in a chosen, mostly hostile way
contract TroublesomeWallet {
    /// @notice How the wallet responds to isValidSignature.
    enum Answer {
        Revert,
        RevertWithMagic,
        Bytes,
        BurnGas,
        HugeReturn,
        Write
    }

    Answer private immutable ANSWER;
    /// @notice Return data for every call, if the answer is `Bytes`.
    bytes public returned;

    /// @param answer how the wallet responds to isValidSignature
    /// @param returned_ its return data
    constructor(Answer answer, bytes memory returned_) {
        ANSWER = answer;
        returned = returned_;
    }

    // solhint-disable-next-line no-complex-fallback
    fallback() external {
        if (ANSWER == Answer.Revert) revert("no");
        if (ANSWER == Answer.BurnGas) {
            assembly {
                invalid()
            }
        }
        bytes memory data = returned;
        if (ANSWER == Answer.Write) returned = "";
        bool reverts = ANSWER == Answer.RevertWithMagic;
        uint256 size = ANSWER == Answer.HugeReturn ? 1 << 20 : data.length;
        assembly {
            if reverts {
                revert(add(data, 32), size)
            }
            return(add(data, 32), size)
        }
    }
}
