# SPDX-License-Identifier: Apache-2.0
"""caucus over a Flower federation: the machines of caucus-dp, whose messages Flower carries."""
