"""The Celery application: JSON only, early acknowledgement, events on; one queue a worker, so an offer has one reader.

Celery carries offers and shows them in Flower; the job record is the truth (DESIGN, "Truth and offers").
"""

from __future__ import annotations

import re

import structlog
from celery import Celery
from kombu import Producer, Queue
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from tasks.scripts import Offered
from tasks.settings import Settings
from tasks.store import Publish
from tasks.workers import celery_queue

log = structlog.get_logger()

#: what a broker that is away raises
BROKER_ERRORS = (OperationalError, RedisError, OSError)


def make_app(settings: Settings) -> Celery:
    """Make the application for these settings."""
    app = Celery("simrelay", broker=settings.redis_url.get_secret_value(), set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        task_acks_late=False,
        task_send_sent_event=True,
        worker_send_task_events=True,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_hijack_root_logger=False,
        worker_max_tasks_per_child=None,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_create_missing_queues=True,
        task_default_queue="unused",
        enable_utc=True,
        event_queue_ttl=60,
        broker_transport_options={
            "visibility_timeout": 300,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "health_check_interval": 25,
            "global_keyprefix": f"{settings.key_prefix}celery:",
            "socket_timeout": settings.renew_timeout_seconds,
            "socket_connect_timeout": settings.renew_timeout_seconds,
            # How often a publication is tried: what holds a lease must not wait for a broker that is away.
            "max_retries": 1,
            "interval_start": 0.1,
            "interval_step": 0.1,
            "interval_max": 0.2,
        },
    )
    return app


def task_name(engine: str, task: str) -> str:
    """Give the name that Flower shows for an engine's task: ``pyscf.single_point``, ``program.countdown``."""
    return f"{engine}.{re.sub(r'[^A-Za-z0-9_.-]', '_', task) or 'run'}"


def publisher(app: Celery) -> Publish:
    """Make what sends the messages of offers; each has the task id that its reservation was given.

    A publication that fails is like a lost message: the offer is made again when nobody took it in time.
    """

    def publish(offers: tuple[Offered, ...]) -> None:
        try:
            with app.producer_or_acquire() as producer:
                for offer in offers:
                    _send(app, producer, offer)
        except BROKER_ERRORS as error:
            log.warning("offers_not_published", count=len(offers), error=str(error))

    return publish


def _send(app: Celery, producer: Producer, offer: Offered) -> None:
    shown = ", ".join(filter(None, (offer.label, f"job {offer.job}", offer.run and f"run {offer.run}")))
    app.send_task(
        task_name(offer.engine, offer.task),
        args=(offer.job,),
        task_id=offer.task_id,
        queue=Queue(celery_queue(offer.worker)),
        producer=producer,
        declare=[],  # its worker has declared it
        argsrepr=f"({shown})",
        kwargsrepr="{}",
        ignore_result=True,
    )
