"""An engine on a host, as the window holds it: the process that leads there, whose words are not taken on trust."""

from functools import partial

from PySide6.QtCore import QObject, QProcess

from gradstudio.protocol.errors import HostFailed, ProtocolError
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import refusal, start_command
from gradstudio.protocol.hosts.host_failures import LAST_WORDS, loss, start_failure
from gradstudio.protocol.messages.events import Log
from gradstudio.ui.state.engines.engine_child import EngineChild


class FarChild(EngineChild):
    """An engine on a host.

    Attributes:
        host: where it is.
    """

    def __init__(self, host: Host, options: tuple[str, ...], parent: QObject) -> None:
        """Start what leads there; `options` are the engine's."""
        self._frames = FarDecoder(partial(refusal, host))
        self._errors, self._reason = "", ""
        self.host = host
        super().__init__(start_command(host, bundle_key(), *options), parent)

    def _new_decoder(self) -> FarDecoder:
        return self._frames

    def _end_group(self) -> None:
        """What code has started there ends there; a number of a process from there is none of ours."""

    def _refuse(self, error: ProtocolError) -> None:
        is_clear = isinstance(error, HostFailed) or self._frames.greeted
        self._reason = str(error) if is_clear else f"From the host “{self.host.name}” comes no engine: {error}"
        self.process.kill()

    def _how(self, code: int, *, crashed: bool) -> str:
        self._on_process_error_read()  # ssh says why in its last line
        exit_code = None if crashed else code
        if self._reason:
            return self._reason
        if self._frames.greeted:
            return loss(self.host, exit_code, self._errors)
        return start_failure(self.host, exit_code, self._errors, self._frames.noise)

    def _on_process_error_read(self) -> None:
        text = bytes(self.process.readAllStandardError().data()).decode("utf-8", "replace")
        self._errors = (self._errors + text)[-LAST_WORDS:]
        if text.strip() and self._frames.greeted and not self._discarded:
            self.message.emit(Log(level="info", text=text.strip()))

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and not self._discarded:
            program = self.process.program()
            self.ended.emit(f"The host “{self.host.name}” cannot be reached: {program} could not be started.")


def make_far(host: Host, options: tuple[str, ...], parent: QObject) -> EngineChild:
    """Start an engine on a host."""
    return FarChild(host, options, parent)
