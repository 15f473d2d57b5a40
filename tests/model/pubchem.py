"""A stand-in for PubChem's PUG REST with a few compounds; answers as its documentation has them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.model.scripted import Raw, ScriptedServer, Seen, as_json

GREEN = "Request Count status: Green (0%), Request Time status: Green (0%), Service status: Green (20%)"
CAFFEINE: dict[str, object] = {
    "CID": 2519,
    "SMILES": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "InChIKey": "RYYVLZVUVIJVGH-UHFFFAOYSA-N",
    "MolecularFormula": "C8H10N4O2",
    "Charge": 0,
    "IUPACName": "1,3,7-trimethylpurine-2,6-dione",
    "Title": "Caffeine",
}
ETHYL_ACETATE: dict[str, object] = {
    "CID": 8857,
    "SMILES": "CCOC(=O)C",
    "InChIKey": "XEKOWRVHYACXOJ-UHFFFAOYSA-N",
    "MolecularFormula": "C4H8O2",
    "Charge": 0,
    "IUPACName": "ethyl acetate",
    "Title": "Ethyl Acetate",
}
#: names of each, besides title and IUPAC name
SYNONYMS = {
    2519: ["caffeine", "58-08-2", "Guaranine", "CAS-58-08-2", "1,3,7-Trimethylxanthine", "95789-13-2", "58-08-3"],
    8857: ["ethyl acetate", "141-78-6", "acetic ester"],
}


class StandInPubChem(ScriptedServer):
    """Knows some compounds by name, CAS number and InChIKey; or gives the answers of a script, then those.

    Parameters
    ----------
    more
        What names give besides: rows of the table of properties.
    """

    def __init__(self, *script: Raw, more: Mapping[str, list[dict[str, object]]] | None = None) -> None:
        super().__init__()
        self.script = list(script)
        self.names: dict[str, list[dict[str, object]]] = {}
        for row in (CAFFEINE, ETHYL_ACETATE):
            cid = row["CID"]
            assert isinstance(cid, int)
            for name in (row["Title"], row["IUPACName"], row["InChIKey"], *SYNONYMS[cid]):
                self.names[str(name).lower()] = [row]
        self.names |= {name.lower(): rows for name, rows in (more or {}).items()}

    def reply(self, seen: Seen) -> Raw:
        if self.script:
            return self.script.pop(0)
        if seen.path == "/compound/cid/synonyms/JSON":
            cid = int(seen.body["cid"])
            if cid not in SYNONYMS:
                return not_found()
            body = {"InformationList": {"Information": [{"CID": cid, "Synonym": SYNONYMS[cid]}]}}
            return as_json(body, X_Throttling_Control=GREEN)
        match = re.fullmatch(r"/compound/(name|inchikey)/property/[A-Za-z,]+/JSON", seen.path)
        assert match, seen.path
        rows = self.names.get(str(seen.body[match[1]]).lower())
        return as_json({"PropertyTable": {"Properties": rows}}, X_Throttling_Control=GREEN) if rows else not_found()


def not_found() -> Raw:
    """What PubChem says where there is no such thing."""
    fault = {"Code": "PUGREST.NotFound", "Message": "No CID found", "Details": ["No CID found that matches the name"]}
    return as_json({"Fault": fault}, 404)


def busy() -> Raw:
    """What PubChem says to whom asks too much."""
    fault = {"Code": "PUGREST.ServerBusy", "Message": "Too many requests or server too busy"}
    header = "Request Count status: Red (80%), Request Time status: Green (0%), Service status: Yellow (55%)"
    return as_json({"Fault": fault}, 503, X_Throttling_Control=header, Retry_After="0")
