// SPDX-License-Identifier: GPL-3.0-or-later
// Exported from the keys of circuits/artifacts.lock.json by scripts/setup, never edited.
pragma solidity 0.8.37;

import {INoteAppendVerifier} from "../interfaces/IVerifier.sol";
import {Bn254Guard} from "../libraries/Bn254Guard.sol";
import {DevelopmentKeysGuard} from "../libraries/DevelopmentKeysGuard.sol";

/// @title Groth16 verifier of the note_append circuit
/// @notice Key set: development.
contract NoteAppendVerifier is INoteAppendVerifier, Bn254Guard, DevelopmentKeysGuard {
    /// @dev Order of the groups: every public signal is below it.
    uint256 private constant R = 21888242871839275222246405745257275088548364400416034343698204186575808495617;

    uint256 private constant ALPHA_X = 18286437731311341371576449901673191371265393546317588915227576493021179786281;
    uint256 private constant ALPHA_Y = 6383504971177419822385481242359813544861503783033591220634386788279464602313;
    uint256 private constant BETA_X1 = 6577051039914648820547910688162310186316438160568358820078620788317933968102;
    uint256 private constant BETA_X0 = 9765800809774083985277186704283989666669842411837119689850586827534960620836;
    uint256 private constant BETA_Y1 = 7819801143510145937610537341847776719984113793870971311931651473731970995097;
    uint256 private constant BETA_Y0 = 5211054914741713428768377778419226763248847534519042210742848830886334350893;
    uint256 private constant MINUS_BETA_Y1 =
        14068441728329129284635868403409498368712197363426852350757386420913255213486;
    uint256 private constant MINUS_BETA_Y0 =
        16677187957097561793478027966838048325447463622778781451946189063758891857690;
    uint256 private constant GAMMA_X1 = 11559732032986387107991004021392285783925812861821192530917403151452391805634;
    uint256 private constant GAMMA_X0 = 10857046999023057135944570762232829481370756359578518086990519993285655852781;
    uint256 private constant GAMMA_Y1 = 4082367875863433681332203403145435568316851327593401208105741076214120093531;
    uint256 private constant GAMMA_Y0 = 8495653923123431417604973247489272438418190587263600148770280649306958101930;
    uint256 private constant MINUS_GAMMA_Y1 =
        17805874995975841540914202342111839520379459829704422454583296818431106115052;
    uint256 private constant MINUS_GAMMA_Y0 =
        13392588948715843804641432497768002650278120570034223513918757245338268106653;
    uint256 private constant DELTA_X1 = 1189041064611623836474653963911528009443911696992882737872394230709128208080;
    uint256 private constant DELTA_X0 = 16771237419648649227143053538467910941271007246826486394595849902534506101050;
    uint256 private constant DELTA_Y1 = 15739897533969363438772421286507760153394511425019362791992157373207569246825;
    uint256 private constant DELTA_Y0 = 17298144048235709684391807124079197812207048003117467274738868542043076128586;
    uint256 private constant MINUS_DELTA_Y1 =
        6148345337869911783473984458749514935301799732278460870696880521437656961758;
    uint256 private constant MINUS_DELTA_Y0 =
        4590098823603565537854598621178077276489263154180356387950169352602150079997;
    uint256 private constant IC0_X = 9453015590950889030448130420239396281666940561703232797549052879147352735583;
    uint256 private constant IC0_Y = 15151279543955934017422813814052859215705681491920528500179043976089332109198;
    uint256 private constant IC1_X = 21086887977374343383114218595317144204536104145230230552307848312209735306641;
    uint256 private constant IC1_Y = 8512718485451756556306573454739063420272902958993725198679016303984563383969;
    uint256 private constant IC2_X = 12909381740336130110278259547098682482607946435666730207294311161284742610528;
    uint256 private constant IC2_Y = 899504414601741559898136482488012060556210625836660272549733990824858292900;
    uint256 private constant IC3_X = 15587381096805465334963423375963245942476365925916526723589552730333255749050;
    uint256 private constant IC3_Y = 80973926698008069672396497829841484264125484471309594111366078209483713393;

    /// @inheritdoc INoteAppendVerifier
    /// @dev Checks e(A, B) . e(alpha, -beta) . e(IC(signals), -gamma) . e(C, -delta) = 1. The signs are in the
    /// constants, so that the proof's words go to the precompile as they came: it refuses a coordinate that is not
    /// canonical, a point off its curve and a B outside the subgroup. A call to an address without code succeeds and
    /// returns nothing, so only one returned word that is 1 counts.
    ///
    /// The pairing's input, four pairs of six words, starts at 0x00. It overwrites the memory that Solidity reserves,
    /// which is safe because the assembly ends the call. The sum over the signals stays at 0x180. Until gamma and delta
    /// are written, 0x1c0 contains the product to add, and 0x200 the point and the signal to multiply.
    function verifyNoteAppend(uint256[8] calldata proof, uint256[3] calldata signals) external view returns (bool) {
        assembly {
            mstore(0x180, IC0_X)
            mstore(0x1a0, IC0_Y)

            let signal := calldataload(signals)
            let ok := lt(signal, R)
            mstore(0x200, IC1_X)
            mstore(0x220, IC1_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x20))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC2_X)
            mstore(0x220, IC2_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x40))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC3_X)
            mstore(0x220, IC3_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            calldatacopy(0x00, proof, 0x40)
            // The precompile wants the imaginary part of a coordinate first.
            mstore(0x40, calldataload(add(proof, 0x60)))
            mstore(0x60, calldataload(add(proof, 0x40)))
            mstore(0x80, calldataload(add(proof, 0xa0)))
            mstore(0xa0, calldataload(add(proof, 0x80)))

            mstore(0xc0, ALPHA_X)
            mstore(0xe0, ALPHA_Y)
            mstore(0x100, BETA_X1)
            mstore(0x120, BETA_X0)
            mstore(0x140, MINUS_BETA_Y1)
            mstore(0x160, MINUS_BETA_Y0)

            mstore(0x1c0, GAMMA_X1)
            mstore(0x1e0, GAMMA_X0)
            mstore(0x200, MINUS_GAMMA_Y1)
            mstore(0x220, MINUS_GAMMA_Y0)

            calldatacopy(0x240, add(proof, 0xc0), 0x40)
            mstore(0x280, DELTA_X1)
            mstore(0x2a0, DELTA_X0)
            mstore(0x2c0, MINUS_DELTA_Y1)
            mstore(0x2e0, MINUS_DELTA_Y0)

            ok := and(ok, staticcall(gas(), 0x08, 0x00, 0x300, 0x00, 0x20))
            mstore(0x00, and(and(ok, eq(returndatasize(), 0x20)), eq(mload(0x00), 1)))
            return(0x00, 0x20)
        }
    }

    /// @inheritdoc INoteAppendVerifier
    function verificationKey() external pure returns (uint256[22] memory) {
        assembly {
            mstore(0x00, ALPHA_X)
            mstore(0x20, ALPHA_Y)
            mstore(0x40, BETA_X1)
            mstore(0x60, BETA_X0)
            mstore(0x80, BETA_Y1)
            mstore(0xa0, BETA_Y0)
            mstore(0xc0, GAMMA_X1)
            mstore(0xe0, GAMMA_X0)
            mstore(0x100, GAMMA_Y1)
            mstore(0x120, GAMMA_Y0)
            mstore(0x140, DELTA_X1)
            mstore(0x160, DELTA_X0)
            mstore(0x180, DELTA_Y1)
            mstore(0x1a0, DELTA_Y0)
            mstore(0x1c0, IC0_X)
            mstore(0x1e0, IC0_Y)
            mstore(0x200, IC1_X)
            mstore(0x220, IC1_Y)
            mstore(0x240, IC2_X)
            mstore(0x260, IC2_Y)
            mstore(0x280, IC3_X)
            mstore(0x2a0, IC3_Y)
            return(0x00, 0x2c0)
        }
    }
}
