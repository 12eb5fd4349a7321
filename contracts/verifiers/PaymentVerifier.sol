// SPDX-License-Identifier: GPL-3.0-or-later
// Exported from the keys of circuits/artifacts.lock.json by scripts/setup, never edited.
pragma solidity 0.8.37;

import {IPaymentVerifier} from "../interfaces/IVerifier.sol";
import {Bn254Guard} from "../libraries/Bn254Guard.sol";
import {DevelopmentKeysGuard} from "../libraries/DevelopmentKeysGuard.sol";

/// @title Groth16 verifier of the payment circuit
/// @notice Key set: development.
contract PaymentVerifier is IPaymentVerifier, Bn254Guard, DevelopmentKeysGuard {
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
    uint256 private constant DELTA_X1 = 12894693294655147733568320425890831156662832658824915915102299797313894425928;
    uint256 private constant DELTA_X0 = 2428954060533167092482475931300242883232319342886974008525812286561188190881;
    uint256 private constant DELTA_Y1 = 18808363661709252538906096881303915835677882910155404139840572961061988967641;
    uint256 private constant DELTA_Y0 = 20635168675574237744384291756599574560541728106738358403086350915964885314416;
    uint256 private constant MINUS_DELTA_Y1 =
        3079879210130022683340308863953359253018428247142419522848464933583237240942;
    uint256 private constant MINUS_DELTA_Y0 =
        1253074196265037477862113988657700528154583050559465259602686978680340894167;
    uint256 private constant IC0_X = 4810964486108760307552709071459281289497434359043839915408353161619201553923;
    uint256 private constant IC0_Y = 15389353790479892838478816780175284000000983284018549738740920630964759769334;
    uint256 private constant IC1_X = 6706407473547352961429383771652799425241930709440369405829624778664994392848;
    uint256 private constant IC1_Y = 6305375033269862673555920268801096544051483221571512173747695930343666227893;
    uint256 private constant IC2_X = 16073592961598935203488216387976810929371325331624934305699228473024088939162;
    uint256 private constant IC2_Y = 6893122969537201206440441748558879542459223785098393878734855426410080955181;
    uint256 private constant IC3_X = 16590449552961232803625881646920145801777474128300146004652454887413690001607;
    uint256 private constant IC3_Y = 3861097757044674442009936368930837794972640319820479430816215488818947968362;
    uint256 private constant IC4_X = 20287739125231628614364786093137778746397534898340045307401673688279796374710;
    uint256 private constant IC4_Y = 13899738347864091472614217767855667419433530007684841155010835729508930866013;
    uint256 private constant IC5_X = 7398628059175078731802703643019812313691014765978465062200816957599857133781;
    uint256 private constant IC5_Y = 7597138170020251515584874113066008236312262517073119450309911346027161114587;
    uint256 private constant IC6_X = 16086310117044529489728828460491539258021651650626452968260502672678687042357;
    uint256 private constant IC6_Y = 9953889237525967267765486442667031438707948157969626434540212198605709806149;
    uint256 private constant IC7_X = 956026597396347320506032030800212759891334570913335096606323078295778458405;
    uint256 private constant IC7_Y = 21512165176466004221074136344348474893754982233848480312457968217064290586499;
    uint256 private constant IC8_X = 319004132816960203675483346079484041002108546889990566950091214867945621476;
    uint256 private constant IC8_Y = 18991477249072193329568858510490966663384746186793727498506152124582090982635;
    uint256 private constant IC9_X = 4277839889017828678887388675105940048305415404107241400492768199501766898254;
    uint256 private constant IC9_Y = 2814312237588453765283519116015966784360700741092955579370491794442502799205;
    uint256 private constant IC10_X = 13530994114411014356208863874578459379622078759879519803847037133638851407481;
    uint256 private constant IC10_Y = 18919530180276498139853393633101105220273218549216753478143011151602737473508;

    /// @inheritdoc IPaymentVerifier
    /// @dev Checks e(A, B) . e(alpha, -beta) . e(IC(signals), -gamma) . e(C, -delta) = 1. The signs are in the
    /// constants, so that the proof's words go to the precompile as they came: it refuses a coordinate that is not
    /// canonical, a point off its curve and a B outside the subgroup. A call to an address without code succeeds and
    /// returns nothing, so only one returned word that is 1 counts.
    ///
    /// The pairing's input, four pairs of six words, starts at 0x00. It overwrites the memory that Solidity reserves,
    /// which is safe because the assembly ends the call. The sum over the signals stays at 0x180. Until gamma and delta
    /// are written, 0x1c0 contains the product to add, and 0x200 the point and the signal to multiply.
    function verifyPayment(uint256[8] calldata proof, uint256[10] calldata signals) external view returns (bool) {
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

            signal := calldataload(add(signals, 0x60))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC4_X)
            mstore(0x220, IC4_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x80))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC5_X)
            mstore(0x220, IC5_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xa0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC6_X)
            mstore(0x220, IC6_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xc0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC7_X)
            mstore(0x220, IC7_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xe0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC8_X)
            mstore(0x220, IC8_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x100))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC9_X)
            mstore(0x220, IC9_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x120))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC10_X)
            mstore(0x220, IC10_Y)
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

    /// @inheritdoc IPaymentVerifier
    function verificationKey() external pure returns (uint256[36] memory) {
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
            mstore(0x2c0, IC4_X)
            mstore(0x2e0, IC4_Y)
            mstore(0x300, IC5_X)
            mstore(0x320, IC5_Y)
            mstore(0x340, IC6_X)
            mstore(0x360, IC6_Y)
            mstore(0x380, IC7_X)
            mstore(0x3a0, IC7_Y)
            mstore(0x3c0, IC8_X)
            mstore(0x3e0, IC8_Y)
            mstore(0x400, IC9_X)
            mstore(0x420, IC9_Y)
            mstore(0x440, IC10_X)
            mstore(0x460, IC10_Y)
            return(0x00, 0x480)
        }
    }
}
