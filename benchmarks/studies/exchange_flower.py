"""Server and clients of a federated logistic regression; run by `exchange_federated`.

It needs Flower, scikit-learn and NumPy alone, in an environment of its own.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np


def serve(folder: str, address: str, rounds: str, n_clients: str) -> None:
    """Average the parameters of all clients in each round, and keep those of every round."""
    from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays  # noqa: PLC0415
    from flwr.server import ServerConfig, start_server  # noqa: PLC0415
    from flwr.server.strategy import FedAvg  # noqa: PLC0415

    kept = []

    def keep(_round, parameters, _config):  # noqa: ANN001, ANN202
        kept.append(np.concatenate([array.ravel() for array in parameters]))

    with np.load(Path(folder, "site0.npz")) as site:
        n_features = site["X"].shape[1]
    start = [np.zeros((1, n_features)), np.zeros(1)]
    clients = int(n_clients)
    strategy = FedAvg(
        fraction_evaluate=0.0,
        min_fit_clients=clients,
        min_available_clients=clients,
        evaluate_fn=keep,
        initial_parameters=ndarrays_to_parameters(start),
    )
    start_server(
        server_address=address, config=ServerConfig(num_rounds=int(rounds)), strategy=strategy
    )
    one = ndarrays_to_parameters(start)
    size = sum(len(tensor) for tensor in one.tensors)
    assert len(parameters_to_ndarrays(one)) == len(start)
    np.savez(Path(folder, "kept.npz"), lines=np.array(kept), parameter_bytes=size)


def take_part(folder: str, address: str, site: str, steps: str) -> None:
    """Train on the rows of a site, from the parameters of the server, in some steps a round."""
    from flwr.client import NumPyClient, start_client  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    warnings.simplefilter("ignore")
    with np.load(Path(folder, f"site{site}.npz")) as rows:
        X, y = rows["X"], rows["y"]

    class Site(NumPyClient):
        """A site: logistic regression that goes on from the parameters it is given."""

        def fit(self, parameters, _config):  # noqa: ANN001, ANN202
            model = LogisticRegression(max_iter=int(steps), warm_start=True)
            model.classes_ = np.array([False, True])
            model.coef_, model.intercept_ = (np.array(part) for part in parameters)
            if len(set(y.tolist())) > 1:
                model.fit(X, y)
            return [model.coef_, model.intercept_], len(y), {}

    start_client(server_address=address, client=Site().to_client())


if __name__ == "__main__":
    {"serve": serve, "take_part": take_part}[sys.argv[1]](*sys.argv[2:])
    print(json.dumps("done"))
